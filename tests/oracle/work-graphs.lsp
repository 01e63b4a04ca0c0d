;;;; Random graphs of objects of all kinds, that change while the collector collects,
;;;; with weak tables and pointers, by several threads.  With finalizers beside them
;;;; ECL 21.2.1 crashes, also by itself; run-alive has these alone.
(in-package :cl-user)
(let ((fas (oracle:compiled-file "graphs.lsp")))
  (load fas)
  (oracle:with-counts ()
    (funcall (find-symbol "RUN" "ORACLE-GRAPHS")))
  (funcall (find-symbol "END" "ORACLE-GRAPHS")))
