;;; Each function here allocates lists of its own.  Where they stand, with lines,
;;; is what run-sources.test asks for: a line more or less makes others wrong.

#| A comment (defun foo (x) (list x)) |#
(defun plain (x)
  (list x))

;; not here
  (defun indented (x) ; nor here
  (list x))

(defun (setf place) (new x)
  (list new x))

(defun around (n)
  (declare (notinline list))
  (flet ((inner (i) (list i n)))
    (mapcar #'inner '(1 2 3))))

(defclass thing () ())

(defmethod act ((x thing))
  (list x))

(defun run ()
  (let ((thing (make-instance 'thing)))
    (dotimes (i 100)
      (plain i)
      (indented i)
      (setf (place i) i)
      (around i)
      (act thing))))
