;;;; Threads that allocate at once: two started before the recording, two after;
;;;; of each pair one ends before it stops, one goes on.
(in-package :cl-user)
(load (oracle:compiled-file "code.lsp"))

(defun work (rounds)
  (funcall (find-symbol "RUN" "ORACLE-CODE") rounds))

(defun early (stays)
  (oracle:gate)
  (work 30)
  (when stays
    (oracle:gate)
    (work 3)))

(defun late (stays)
  (work 30)
  (when stays
    (oracle:gate)
    (work 3)))

(let* ((before (list (mp:process-run-function 'early-stays #'early t)
                     (mp:process-run-function 'early-ends #'early nil)))
       (after '()))
  (oracle:start 2)
  (setf after (list (mp:process-run-function 'late-stays #'late t)
                    (mp:process-run-function 'late-ends #'late nil)))
  (work 30)
  (mp:process-join (second before))
  (mp:process-join (second after))
  (oracle:stop 2)
  (mapc #'mp:process-join before)
  (mapc #'mp:process-join after))
