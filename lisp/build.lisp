;;;; build.lisp - compile the package into one file, mprof.fas; and mprof-swank.fas.
;;;;
;;;;     MPROF_SRCDIR=lisp MPROF_BUILDDIR=build ecl --norc --shell build.lisp
;;;;
;;;; config.lisp is taken from MPROF_BUILDDIR, the other files from MPROF_SRCDIR.
;;;; The results are MPROF_BUILDDIR/mprof.fas and mprof-swank.fas; object files go to
;;;; a folder "objects" beside them.  Quits with 0, or with 1 after an error or a warning.

(require 'cmp)

(defun folder (variable)
  "The folder that the environment's VARIABLE names."
  (let ((name (or (si:getenv variable) ".")))
    (merge-pathnames
     (concatenate 'string (string-right-trim "/" name) "/")
     (si:getcwd))))

(defun build ()
  "Compile all files; the files mprof.fas and mprof-swank.fas."
  (let* ((build (folder "MPROF_BUILDDIR"))
         (objects (merge-pathnames "objects/" build)))
    (ensure-directories-exist objects)
    (flet ((compiled (name folder &key (loaded t))
             (let ((source (merge-pathnames (format nil "~A.lisp" name)
                                            folder)))
               (multiple-value-bind (object warnings failed)
                   (compile-file source
                                 :system-p t :verbose nil :print nil
                                 :output-file
                                 (merge-pathnames (format nil "~A.o" name)
                                                  objects))
                 (when (or warnings failed (null object))
                   (error "~A does not compile cleanly" source))
                 ;; Macros and the package, for the files that follow.
                 (when loaded
                   (load source :verbose nil))
                 object))))
      (let ((source (folder "MPROF_SRCDIR")))
        (c:build-fasl
         (merge-pathnames "mprof.fas" build)
         :lisp-files
         (list* (compiled "package" source)
                (compiled "config" build)
                (mapcar (lambda (name) (compiled name source))
                        '("conditions" "text" "ffi" "control" "count" "report" "profile"
                          "limit" "live" "heap" "escapes" "batch"))))
        (c:build-fasl
         (merge-pathnames "mprof-swank.fas" build)
         :prologue-code '(require :mprof)
         ;; It needs SWANK to be loaded, not to be compiled.
         :lisp-files (list (compiled "swank" source :loaded nil)))))))

(setf *compile-verbose* nil
      c::*suppress-compiler-messages* '(or c:compiler-note style-warning))
(handler-case (build)
  (error (condition)
    (format *error-output* "build.lisp: ~A~%" condition)
    (ext:quit 1)))
