;;;; evaluated.lsp - forms of ever new shapes, for the compiler to bytecodes: its
;;;; functions are one to the tables, which calls itself on each way.

(defvar *number* 1)

(defun chance (n)
  "One of N numbers; the same ones each time."
  (setf *number* (mod (+ (* *number* 1103515245) 12345) 2147483648))
  (mod (ash *number* -8) n))

(defun form (depth)
  "A form that is DEPTH forms deep."
  (if (zerop depth)
      '(list 1 2)
      (flet ((part () (form (1- depth))))
        (ecase (chance 6)
          (0 `(let ((x ,(part))) x))
          (1 `(if ,(part) ,(part) nil))
          (2 `(progn ,(part) 1))
          (3 `(block nil ,(part)))
          (4 `(multiple-value-bind (a b) ,(part) (list a b)))
          (5 `(funcall (lambda (z) z) ,(part)))))))

(dotimes (i 1500)
  (eval (form 12)))
