;;;; widgets.lsp - producers and a consumer, as in Zorn and Hilfinger's paper.
;;;;
;;;; Usage: ecl --mprof widgets.lsp
;;;;
;;;; 10,000 widgets, of which a flip that is the same on every run makes 5,019
;;;; red and 4,981 blue.  A widget is a structure with 17 slots: an object of
;;;; 64 bytes and a block of 136.  The tables show 2,000,000 bytes of MAKE-WIDGET:
;;;; 1,003,800 for MAKE-RED-WIDGET and 996,200 for MAKE-BLUE-WIDGET.

(defpackage :widgets
  (:use :cl))
(in-package :widgets)

(defstruct (widget (:constructor new-widget ()))
  a b c d e f g h i j k l m n o p (weight 1))

(declaim (notinline make-widget make-red-widget make-blue-widget consume
                    random-flip))

(defvar *made* 0)
(defvar *weight* 0)

(defun random-flip ()
  "True for 5,019 of 10,000 calls, evenly spread."
  (setf *made* (+ *made* 1))
  (< (mod (* *made* 5019) 10000) 5019))

(defun make-widget ()
  (new-widget))

(defun make-red-widget ()
  (make-widget))

(defun make-blue-widget ()
  (make-widget))

(defun consume (widget)
  (setf *weight* (+ *weight* (widget-weight widget))))

(defun main ()
  (dotimes (i 10000)
    (consume (if (random-flip) (make-red-widget) (make-blue-widget))))
  (format t "~d widgets weigh ~d~%" *made* *weight*))

(main)
