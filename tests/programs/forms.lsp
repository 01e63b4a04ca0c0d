;;;; forms.lsp - known numbers of objects of several types.
;;;; Usage: forms.lsp [killed]

(defstruct point x y)
(defclass thing () ((a :initarg :a)))
(defun points (n) (loop for i below n collect (make-point :x i :y nil)))
(defun tables (n) (loop repeat n collect (make-hash-table :size 100)))
(defun vectors (n) (loop repeat n collect (make-array 10)))
(defun things (class n) (loop repeat n collect (allocate-instance class)))
(defun strings (n) (loop repeat n collect (make-string 100)))
(defun bignums (n) (loop for i below n collect (ash 1 (+ 100 i))))
(defun conses (n) (make-list n))

(defun main ()
  (points 10000)
  (tables 100)
  (vectors 2000)
  (things (find-class 'thing) 3000)
  (strings 4000)
  (bignums 500)
  (conses 70000)
  :done)

(print (main))
(terpri)
(finish-output)
(when (equal (first (last (ext:command-args))) "killed")
  (ext:system (format nil "kill -s KILL ~D" (ext:getpid))))
