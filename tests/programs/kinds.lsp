;;;; kinds.lsp - one function for each kind of object; it makes some of these.
;;;;
;;;; Usage: ecl --mprof kinds.lsp

(defpackage :kinds
  (:use :cl))
(in-package :kinds)

(defvar *sink* nil)
(defvar *float* 1.5d0)
(defvar *big* (expt 2 100))

(defmacro kind (name form)
  "A function that makes what FORM makes, five times."
  `(defun ,name () ,@(loop repeat 5 collect `(setq *sink* ,form))))

(kind lists (cons 1 2))
(kind arrays (make-array '(2 2)))
(kind vectors (make-array 3))
(kind bit-vectors (make-array 100 :element-type 'bit))
(kind base-strings (make-string 9 :element-type 'base-char))
(kind strings (make-string 9 :element-type 'character))
(kind double-floats (sqrt *float*))
(kind bignums (* *big* *big*))
(kind ratios (/ *big* 3))

(mapc #'funcall
      '(lists arrays vectors bit-vectors base-strings strings double-floats
        bignums ratios))
