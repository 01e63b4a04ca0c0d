;;;; lambdas.lsp - functions without a name, each called from its own place; nothing
;;;; here is recursive.

(defvar *table*
  (vector (lambda (n) (helper n) (make-list n))
          (lambda (n) (make-list (* 3 n)))
          (lambda (n) (make-string n))))

(defun helper (n) (funcall (aref *table* 1) n) nil)

(defun two (n)
  (list (funcall (lambda (m) (make-list m)) n)
        (funcall (lambda (m) (make-list (* 2 m))) n)))

(defun run ()
  (dotimes (i 100)
    (funcall (aref *table* 0) 10)
    (funcall (aref *table* 2) 1000)
    (two 5)))
