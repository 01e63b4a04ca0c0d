;;;; driver.lsp - run one workload with the collector's requests counted.
;;;;
;;;; Usage: LD_PRELOAD=gc_count.so ecl --norc --shell driver.lsp WORKLOAD
;;;;
;;;; gc_count.c has the C side and the environment that it reads.

(defpackage :oracle
  (:use :cl)
  (:export #:start #:stop #:reset #:save #:gate #:with-counts
           #:scratch-file #:compiled-file))
(in-package :oracle)

(defun c-function (name)
  (si:find-foreign-symbol name :default :pointer-void 0))

(defvar *start* (c-function "oracle_start"))
(defvar *stop* (c-function "oracle_stop"))
(defvar *reset* (c-function "oracle_reset"))
(defvar *save* (c-function "oracle_save"))
(defvar *gate* (c-function "oracle_gate"))

(defun check (code)
  (unless (eql code 0)
    (format *error-output* "oracle: error ~a of the monitor~%" code)
    (ext:quit 99)))

(defun start (&optional (threads 0))
  "Start recording and counting when THREADS threads stand at the gate."
  (check (si:call-cfun *start* :int '(:int) (list threads))))

(defun stop (&optional (threads 0))
  "Stop both when THREADS threads stand at the gate, and write the findings."
  (check (si:call-cfun *stop* :int '(:int) (list threads))))

(defun reset ()
  (check (si:call-cfun *reset* :int '() '())))

(defun save (file)
  (check (si:call-cfun *save* :int '(:cstring)
                       (list (coerce file 'base-string)))))

(defun gate ()
  "Wait until the main thread starts or stops the count."
  (si:call-cfun *gate* :int '() '()))

(defmacro with-counts (() &body body)
  "Record what BODY allocates."
  `(progn (start) ,@body (stop)))

(defun scratch-file (name)
  (merge-pathnames name (concatenate 'string (ext:getenv "ORACLE_SCRATCH")
                                     "/")))

(defun compiled-file (source)
  "The .fas of SOURCE, a file beside this one, compiled into the scratch folder."
  (let* ((source (merge-pathnames source *load-truename*))
         (output (scratch-file (make-pathname :name (pathname-name source)
                                              :type "fas"))))
    (let ((*standard-output* (make-broadcast-stream))
          (*load-verbose* nil)
          (*compile-verbose* nil))
      (compile-file source :output-file output))))

(load (first (last (ext:command-args))) :verbose nil)
