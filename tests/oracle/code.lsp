;;;; code.lsp - functions that allocate; workloads load it as source and as .fas.

(defpackage :oracle-code
  (:use :cl)
  (:export #:run))
(in-package :oracle-code)

(defstruct point x y)

(defclass shape () ((name :initarg :name :accessor name)))
(defclass circle (shape) ((radius :initarg :radius :initform 1d0
                                  :accessor radius)))
(defclass square (shape) ((side :initform (list 1 2) :accessor side)))

(defgeneric area (shape)
  (:method ((shape circle)) (* 3.14d0 (radius shape) (radius shape)))
  (:method :around ((shape shape)) (list (call-next-method))))

(defun tree (depth)
  (if (zerop depth) nil (cons (tree (1- depth)) (tree (1- depth)))))

(defun count-nodes (tree)
  (labels ((walk (tree)
             (if (consp tree)
                 (+ 1 (walk (car tree)) (walk (cdr tree)))
                 0)))
    (walk tree)))

(defun adders (n)
  (loop for i below n
        collect (let ((i i)) (lambda (x) (incf i x)))))

(defun factorial (n)
  (if (< n 2) 1 (* n (factorial (1- n)))))

(defun fill-table (test n)
  (let ((table (make-hash-table :test test)))
    (dotimes (i n (hash-table-count table))
      (setf (gethash (format nil "~d" i) table) (list i)))))

(defun grow-vector (n)
  (let ((vector (make-array 1 :adjustable t :fill-pointer 0)))
    (dotimes (i n (length (adjust-array vector (list (* 2 n)))))
      (vector-push-extend (list i) vector))))

(defun arrays ()
  (list (make-array '(7 9) :initial-element 0d0)
        (make-array '(7 9) :element-type 'double-float)
        (make-array 1000 :element-type 'bit)
        (make-array 1000 :element-type '(unsigned-byte 16))
        (make-array 0)
        (make-array '())
        (make-string 33)
        (make-string 33 :element-type 'base-char)
        (vector 1 2 3)))

(defun streams ()
  (with-output-to-string (out)
    (with-input-from-string (in "(a b #(1 2) \"text\" 1.5d0 :key #\\x)")
      (print (read in) out))
    (format out "~10,3f ~a ~s ~{~a~^ ~}" 1.5 'symbol "string" (list 1 2 3))))

(defun run (rounds)
  (dotimes (i rounds)
    (count-nodes (tree 8))
    (mapc (lambda (f) (funcall f 3)) (adders 10))
    (factorial 200)
    (fill-table 'equal 100)
    (fill-table 'eq 20)
    (grow-vector 100)
    (arrays)
    (streams)
    (make-point :x (sqrt (random 2d0)) :y (/ 3 7))
    (area (make-instance 'circle :name "c" :radius 2d0))
    (change-class (make-instance 'circle :name "c") 'square)
    (concatenate 'string "abc" (string-upcase "def"))
    (multiple-value-list (floor (expt 3 200) (expt 7 30)))
    (sort (copy-list '(3 1 2)) #'<)
    (complex 1.5d0 2d0)
    (coerce #(1 2 3) 'list)
    (intern (format nil "SYMBOL-~d" i) :oracle-code)))
