;;;; loops.lsp - programs that do little but allocate, compiled for the benchmark.

(defpackage :bench
  (:use :cl)
  (:export #:*loops* #:measure))
(in-package :bench)

(declaim (notinline sum-tree make-tree))

(defun conses (n)
  (let ((list '()))
    (dotimes (i n list)
      (setf list (if (zerop (logand i 1023)) '() (cons i list))))))

(defun make-tree (depth)
  (if (zerop depth)
      (cons nil nil)
      (cons (make-tree (1- depth)) (make-tree (1- depth)))))

(defun sum-tree (tree)
  (if (car tree)
      (+ 1 (sum-tree (car tree)) (sum-tree (cdr tree)))
      1))

(defun trees (n)
  (loop repeat n sum (sum-tree (make-tree 14))))

(defun floats (n)
  (let ((vector (vector 1d0)))
    (dotimes (i n vector)
      (setf (svref vector 0) (- 1d0 (svref vector 0))))))

(defstruct point x y z)

(defun structures (n)
  (let ((point nil))
    (dotimes (i n point)
      (setf point (make-point :x i :y point :z nil))
      (setf (point-y point) nil))))

(defun arrays (n)
  (let ((sum 0))
    (dotimes (i n sum)
      (incf sum (length (the vector (make-array (logand i 63))))))))

(defun strings (n)
  (let ((sum 0))
    (dotimes (i n sum)
      (incf sum (length (format nil "~d ~a ~s" i 'symbol "text"))))))

(defparameter *interpreted*
  '(lambda (n)
     (labels ((walk (list) (if (consp list)
                               (cons (walk (car list)) (walk (cdr list)))
                               list)))
       (dotimes (i n)
         (let ((x (list i (list 1 2 3) i)))
           (walk x))))))

(defun interpreted (n)
  (let ((si::*use-bytecodes* t))
    (funcall (si:eval-with-env *interpreted*) n)))

(defparameter *loops*
  '((conses 5000000) (trees 100) (floats 5000000) (structures 1600000)
    (arrays 1000000) (strings 35000) (interpreted 150000))
  "Functions and how often they go round: about 0.2 s each.")

(defun measure (name count)
  "Microseconds of processor time that NAME takes."
  (ext:gc t)
  (let ((start (get-internal-run-time)))
    (funcall name count)
    (round (* 1000000 (- (get-internal-run-time) start))
           internal-time-units-per-second)))
