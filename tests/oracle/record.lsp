;;;; record.lsp - start and stop the recording by the C interface alone.
;;;;
;;;; Environment: MPROF_LIBRARY, the libmprof.so to load; MPROF_DATA, the data
;;;; file.  Needs nothing of the Lisp package, and is for tests that must not.

(defpackage :record
  (:use :cl)
  (:export #:start #:stop #:until-exit))
(in-package :record)

(defun c-function (name)
  (si:find-foreign-symbol name (ext:getenv "MPROF_LIBRARY") :pointer-void 0))

(defvar *start* (c-function "mprof_start"))
(defvar *stop* (c-function "mprof_stop"))
(defvar *file* (coerce (ext:getenv "MPROF_DATA") 'base-string))

(defun check (code)
  (unless (eql code 0)
    (format *error-output* "record: error ~a of the monitor~%" code)
    (ext:quit 99)))

(defvar *set-live* (c-function "mprof_set_live"))

(defvar *set-sampling* (c-function "mprof_set_sampling"))

(defun start (&key live (sampling 0))
  (check (si:call-cfun *set-live* :int '(:int) (list (if live 1 0))))
  (check (si:call-cfun *set-sampling* :int '(:unsigned-int) (list sampling)))
  (check (si:call-cfun *start* :int '(:cstring) (list *file*))))

(defun stop ()
  (check (si:call-cfun *stop* :int '() '())))

(defun until-exit (&rest options)
  "Record from here to the end of the process, with the OPTIONS of START: LIVE, what
is alive; SAMPLING, a byte in so many."
  (push #'stop si::*exit-hooks*)
  (apply #'start options))
