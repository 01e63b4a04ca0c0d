;;;; Non-local exits and an exhausted stack, interpreted and compiled.
(in-package :cl-user)
(let ((fas (oracle:compiled-file "exits.lsp")))
  (oracle:with-counts ()
    (load (merge-pathnames "exits.lsp" *load-truename*))
    (funcall (find-symbol "RUN" "ORACLE-EXITS") 3)
    (load fas)
    (funcall (find-symbol "RUN" "ORACLE-EXITS") 30)))
