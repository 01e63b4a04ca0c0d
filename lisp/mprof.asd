;;;; mprof.asd - the systems "mprof", "mprof/swank" and "mprof/tests".
;;;;
;;;; In the patched ECL (require :mprof) does the same without ASDF.

(defsystem "mprof"
  :description "Which functions allocate, what, and on whose behalf."
  :licence "MIT"
  :version (:read-file-form "version.sexp")
  :serial t
  :components ((:file "package")
               ;; Written by configure: where the libraries are.  Without it
               ;; MPROF_LIBRARY or the loader's path tells.
               #.(if (probe-file (merge-pathnames "config.lisp" *load-truename*))
                     '(:file "config")
                     '(:module "config" :pathname "" :components ()))
               (:file "conditions")
               (:file "text")
               (:file "ffi")
               (:file "control")
               (:file "count")
               (:file "report")
               (:file "profile")
               (:file "limit")
               (:file "live")
               (:file "heap")
               (:file "escapes")
               (:file "batch"))
  :in-order-to ((test-op (test-op "mprof/tests"))))

;;; What is loaded may be the SWANK of a SLIME that ASDF knows nothing about.
(defsystem "mprof/swank"
  :description "Profiles in SLIME's browser; SWANK must be loaded."
  :licence "MIT"
  :depends-on ("mprof")
  :components ((:file "swank")))

(defsystem "mprof/tests"
  :description "Tests of the Lisp package; they need a patched ECL."
  :licence "MIT"
  :depends-on ("mprof")
  :pathname "tests"
  :serial t
  :components ((:file "harness")
               (:file "recording")
               (:file "count")
               (:file "limit")
               (:file "profiles")
               (:file "conditions")
               (:file "escapes"))
  :perform (test-op (operation system)
             (symbol-call "MPROF/TESTS" "RUN-ALL")))
