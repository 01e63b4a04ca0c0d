;;;; The same code, compiled by this ECL.  Loading it is recorded too.
(in-package :cl-user)
(let ((fas (oracle:compiled-file "code.lsp")))
  (oracle:with-counts ()
    (load fas)
    (funcall (find-symbol "RUN" "ORACLE-CODE") 50)))
