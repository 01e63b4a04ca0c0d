;;;; recursion.lsp - Figure 7 of the paper: F and G call each other.
;;;;
;;;; Usage: ecl --mprof recursion.lsp
;;;;
;;;; One cons, 16 bytes, at the end of a chain on which F stands three times and
;;;; G three times.  Whatever is said about F and G, it is 16 bytes and not 48.

(defpackage :recursion
  (:use :cl)
  (:export #:f #:g))
(in-package :recursion)

(declaim (notinline f g))

(defvar *depth* 6)
(defvar *cons* nil)

(defun g ()
  (setf *depth* (- *depth* 1))
  (if (= *depth* 0)
      (setf *cons* (cons 1 2))
      (f)))

(defun f ()
  (setf *depth* (- *depth* 1))
  (g))

(defun main ()
  (f)
  (format t "~a~%" *cons*))

(main)
