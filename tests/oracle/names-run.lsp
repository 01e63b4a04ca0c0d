;;;; names-run.lsp - record what the functions of programs/names.lsp allocate.
;;;;
;;;; Usage: ecl --norc --shell names-run.lsp PROGRAM FOLDER, where PROGRAM is
;;;; names.lsp or what was compiled from it, and FOLDER takes scratch files.
;;;; Environment: as record.lsp says.

(in-package :cl-user)
(require :cmp)
(load (merge-pathnames "record.lsp" *load-truename*) :verbose nil)

(defvar *program* (second ext:*unprocessed-ecl-command-args*))
(defvar *folder* (third ext:*unprocessed-ecl-command-args*))
(load *program* :verbose nil)
(in-package :zoo)

(defun quietly-compile (name &optional definition)
  (let ((*standard-output* (make-broadcast-stream))
        (*error-output* (make-broadcast-stream)))
    (if definition
        (compile name definition)
        (compile name))))

(defun module (name count)
  "A .fas with a function NAME and one inside of it; each conses COUNT times."
  (let ((source (format nil "~a/~(~a~).lsp" cl-user::*folder* name))
        (*standard-output* (make-broadcast-stream)))
    (with-open-file (out source :direction :output :if-exists :supersede)
      (format out "(in-package :zoo)~%~
                   (defun ~a ()~%~
                     (flet ((in-~@*~a () (conses ~d) (nothing)))~%~
                       (declare (notinline in-~@*~a))~%~
                       (in-~@*~a)~%~
                       (conses ~d)~%~
                       (nothing)))~%"
              name count))
    (compile-file source)))

(defvar *names*
  '(first-one second-one third-one fourth-one fifth-one sixth-one))
(defvar *compiled* (loop for name in *names*
                        ;; The code of the last two is laid out alike.
                        for count in '(31 32 33 34 35 35)
                        collect (module name count)))

(defun compiled-before () (conses 25) (nothing))
(defun compiled-during () (conses 26) (nothing))
(quietly-compile 'compiled-before)

(defvar *big* (expt 3 400000))

(defun collector (name)
  "Call the collector's function NAME."
  (si:call-cfun (si:find-foreign-symbol name :default :pointer-void 0)
                :void '() '()))

;; What a callback needs is known to libffi only, and ECL lets it be collected.
(collector "GC_disable")
(ffi:defcallback compare :int ((a :pointer-void) (b :pointer-void))
  (compare-inside a b))
(defun compare-inside (a b)
  (declare (ignore a b))
  (conses 1)
  0)
(defvar *two* (si:allocate-foreign-data :int 8))
(defvar *qsort* (si:find-foreign-symbol "qsort" :default :pointer-void 0))
(defun call-back ()
  (si:call-cfun *qsort* :void
                '(:pointer-void :uint64-t :uint64-t :pointer-void)
                (list *two* 2 4 (ffi:callback 'compare))))

(record:start)
(run)
(run)
(macroexpand-1 '(expanded))
(c-functions)
(bignums *big*)
(call-back)
(collector "GC_enable")
;; Compiled at run time, before and now
(compiled-before)
(compiled-during)
(quietly-compile 'compiled-during)
(compiled-during)
(funcall (quietly-compile nil '(lambda () (conses 27) (nothing))))
;; Defined anew
(quietly-compile 'redefined '(lambda () (conses 100) (nothing)))
(redefined)
;; Functions that come and go, each perhaps in the place of one before
(loop for i below 40
      for name = (intern (format nil "PASSING-~d" i) :zoo)
      do (eval `(defun ,name () (conses 23) (nothing)))
         (funcall name)
         (fmakunbound name)
         (si:gc t))
;; Modules that come and go, each in the place of the one before
(loop for name in *names*
      for module in *compiled*
      do (load module :verbose nil)
         (funcall name)
         (let ((block (si::compiled-function-block (fdefinition name))))
           (fmakunbound name)
           (si::unload-foreign-module block)))
(record:stop)
