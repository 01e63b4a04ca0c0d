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

(defun start (&key live)
  (check (si:call-cfun *set-live* :int '(:int) (list (if live 1 0))))
  (check (si:call-cfun *start* :int '(:cstring) (list *file*))))

(defun stop ()
  (check (si:call-cfun *stop* :int '() '())))

(defun until-exit (&key live)
  "Record from here to the end of the process; with LIVE also what is alive."
  (push #'stop si::*exit-hooks*)
  (start :live live))
