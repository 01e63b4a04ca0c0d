;;;; A script that ECL interprets, from its first form on.
(in-package :cl-user)
(oracle:with-counts ()
  (load (merge-pathnames "code.lsp" *load-truename*))
  (funcall (find-symbol "RUN" "ORACLE-CODE") 5))
