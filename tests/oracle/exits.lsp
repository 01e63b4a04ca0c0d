;;;; exits.lsp - code that is left in every way but by returning.

(defpackage :oracle-exits
  (:use :cl)
  (:export #:run))
(in-package :oracle-exits)

(defun deep (n leave)
  (let ((kept (list n)))
    (if (zerop n)
        (funcall leave kept)
        (list (deep (1- n) leave) kept))))

(defun by-throw (n)
  (list (catch 'out (deep n (lambda (x) (throw 'out (list x)))))))

(defun by-return-from (n)
  (list (block nil (deep n (lambda (x) (return (list x)))))))

(defun by-go (n)
  (let ((result nil))
    (tagbody
       (deep n (lambda (x) (push x result) (go out)))
     out)
    (list result)))

(defun by-error (n)
  (list (handler-case (deep n (lambda (x) (error "~a" x)))
          (error (c) (princ-to-string c)))))

(defun by-restart (n)
  (handler-bind ((error (lambda (c) (declare (ignore c))
                          (invoke-restart 'again))))
    (restart-case (deep n (lambda (x) (error "~a" x)))
      (again () (list n)))))

(defun by-unwinding (n)
  (let ((log '()))
    (list (catch 'out
            (unwind-protect
                 (unwind-protect (deep n (lambda (x) (throw 'out x)))
                   (setf log (list (tree n) log)))
              (push n log)))
          log)))

(defun tree (n)
  (if (zerop n) nil (cons (tree (floor n 2)) (list n))))

(defun endless (n)
  (cons n (endless (1+ n))))

(defun by-stack-overflow ()
  (list (handler-case (endless 0)
          (ext:stack-overflow () (list 'overflow)))))

(defun many-values (n)
  (multiple-value-call #'list (values n (list n)) (values-list (list n n n))))

(defun run (rounds)
  (dotimes (i rounds)
    (dolist (depth '(0 1 3 40 400))
      (by-throw depth)
      (by-return-from depth)
      (by-go depth)
      (by-error depth)
      (by-restart depth)
      (by-unwinding depth)
      (many-values depth)))
  (dotimes (i 2)
    (by-stack-overflow)
    (by-throw 10)))
