;;;; loops.lsp - programs that do little but allocate, compiled for the benchmark.

(defpackage :bench
  (:use :cl)
  (:export #:*work*))
(in-package :bench)

(declaim (notinline sum-tree make-tree descend))

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

(defun conses (n)
  (let ((list '()))
    (dotimes (i n (length list))
      (setf list (if (zerop (logand i 1023)) '() (cons i list))))))

(defun floats (n)
  (let ((vector (vector 1d0)))
    (dotimes (i n (svref vector 0))
      (setf (svref vector 0) (- 1d0 (svref vector 0))))))

(defun descend (depth)
  "A list of DEPTH numbers; allocates on the way down and on the way up."
  (if (zerop depth)
      '()
      (let ((down (list depth)))
        (cons (car down) (descend (1- depth))))))

(defun recursion (n)
  (loop repeat n sum (length (the list (descend 5000)))))

(defstruct point x y z)

(defun structures (n)
  (let ((point nil))
    (dotimes (i n (point-x point))
      (setf point (make-point :x i :y point :z nil))
      (setf (point-y point) nil))))

(defun strings (n)
  (let ((sum 0))
    (dotimes (i n sum)
      (incf sum (length (format nil "~d ~a ~s" i 'symbol "text"))))))

(defparameter *interpreted*
  '(lambda (n)
     (labels ((walk (list) (if (consp list)
                               (cons (walk (car list)) (walk (cdr list)))
                               list)))
       (dotimes (i n n)
         (let ((x (list i (list 1 2 3) i)))
           (walk x))))))

(defun interpreted (n)
  (let ((si::*use-bytecodes* t))
    (funcall (si:eval-with-env *interpreted*) n)))

(defparameter *work*
  '((trees trees 120) (conses conses 6000000) (floats floats 6000000)
    (recursion recursion 900) (rewriting rewriting 100)
    (structures structures 2000000) (strings strings 45000)
    (interpreted interpreted 180000))
  "What to measure: name, function and its argument; about 0.3 s each.")
