;;;; forgotten.lsp - a program that grows by a hash table that it forgets.

(defpackage "SHOP" (:use "CL"))
(in-package "SHOP")

(defvar *seen* (make-hash-table :test 'equal))

(defun key (n)
  (format nil "item-~D" n))

(defun remember (n)
  (setf (gethash (key n) *seen*) (list n (* n n))))

(defun work (n)
  (let ((all '()))
    (dotimes (i n)
      (push (make-string 10) all))
    (length all)))

(defun main ()
  (dotimes (i 2000)
    (work 20)
    (remember i)))

(main)
(princ (hash-table-count *seen*))
(terpri)
