;;;; browsed.lsp - what run-slime.test records: functions of several kinds.

(defpackage :garden (:use :cl))
(in-package :garden)

(defclass plot () ((side :initarg :side :reader side)))

(defvar *kept* '())

(defgeneric fill-plot (plot))

(defmethod fill-plot ((plot plot))
  (setf *kept* (make-array (side plot))))

(defmethod fill-plot :around ((plot plot))
  (setf *kept* (list plot plot))
  (call-next-method))

;; Only the qualifier tells these apart.
(defmethod seed :around (plant)
  (setf *kept* (list plant))
  (call-next-method))

(defmethod seed (plant)
  (setf *kept* (list plant)))

(defun (setf kept) (value)
  (setf *kept* (list value)))

(defun pairs (n)
  (flet ((pair (i) (cons i i)))
    (loop repeat n collect (pair n))))

(defun work ()
  (fill-plot (make-instance 'plot :side 100))
  (setf (kept) 1)
  (seed 1)
  (pairs 1000)
  (funcall (lambda () (list 1 2 3)))
  nil)
