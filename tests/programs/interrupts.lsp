;;;; interrupts.lsp - threads that allocate 200 calls deep are interrupted about 3,000
;;;; times a second; each third interrupt leaves them by THROW.

(defvar *stop* nil)

(defvar *seconds* 2)

(defun work (n)
  (if (zerop n)
      (make-list 50)
      (let ((list (list n)))
        (work (1- n))
        list)))

(defun work-on ()
  (loop until *stop* do (catch 'out (work 200))))

(let* ((threads (loop repeat 3 collect (mp:process-run-function 'work #'work-on)))
       (end (+ (get-internal-real-time) (* *seconds* internal-time-units-per-second)))
       (count 0))
  (sleep 0.2)
  (loop while (< (get-internal-real-time) end)
        do (dolist (thread threads)
             (incf count)
             (let ((leave (zerop (mod count 3))))
               (mp:interrupt-process thread
                                     (lambda ()
                                       (if leave
                                           (ignore-errors (throw 'out 1))
                                           (list 1 2 3))))))
           (sleep 0.0005))
  (setf *stop* t)
  (mapc #'mp:process-join threads)
  (format t "~&served ~D interrupts~%" count))
