;;;; interrupts.lsp - threads that allocate 200 calls deep are interrupted as fast as
;;;; they serve it, up to 30 times at once.  None leaves by THROW: ECL does not always
;;;; undo its bindings then, also without mprof.

(defvar *stop* nil)

(defvar *seconds* 2)

(defvar *pending* 30)

(defvar *served* (list 0 0 0) "By thread, each of which counts its own.")

(defun work (n)
  (if (zerop n)
      (make-list 50)
      (let ((list (list n)))
        (work (1- n))
        list)))

(defun work-on ()
  (loop until *stop* do (work 200)))

(defun interrupt (thread place)
  (mp:interrupt-process thread
                        (lambda ()
                          (incf (car place))
                          (list 1 2 3))))

(let* ((threads (loop repeat 3 collect (mp:process-run-function 'work #'work-on)))
       (end (+ (get-internal-real-time) (* *seconds* internal-time-units-per-second)))
       (sent (list 0 0 0)))
  (sleep 0.2)
  (loop while (< (get-internal-real-time) end)
        do (loop for thread in threads
                 for place on *served*
                 for count on sent
                 do (when (< (- (car count) (car place)) *pending*)
                      (incf (car count))
                      (interrupt thread place)))
           (sleep 0.0005))
  (setf *stop* t)
  (mapc #'mp:process-join threads)
  (format t "~&served ~D interrupts~%" (reduce #'+ sent)))
