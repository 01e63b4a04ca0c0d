;;;; suite.lsp FILE - one of Maxima's own tests.
;;;;
;;;; Environment: MPROF_MAXIMA, the maxima.fas of Debian's package maxima-sage.

(load (ext:getenv "MPROF_MAXIMA") :verbose nil)
(funcall (intern "INITIALIZE-RUNTIME-GLOBALS" "MAXIMA"))

(let ((file (first (last (ext:command-args))))
      (*package* (find-package "MAXIMA"))
      ;; What is random is the same each time.
      (*random-state* (make-random-state nil)))
  (progv (list (intern "*STREAM-ALIST*")) (list nil)
    (catch (intern "MACSYMA-QUIT")
      (funcall (intern "TEST-BATCH") file nil
               :show-expected nil :show-all nil))))
(format t "~&suite done~%")
