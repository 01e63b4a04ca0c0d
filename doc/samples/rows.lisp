(defun make-row (n)
  (list n (format nil "row ~d" n)))
(defun load-rows (count)
  (loop for n below count collect (make-row n)))
