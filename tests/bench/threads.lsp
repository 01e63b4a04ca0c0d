;;;; threads.lsp - conses and trees by one thread, and by four at once.  The
;;;; times are processor times: of four threads that of them all.

(in-package :bench)

(defun in-threads (threads function n)
  "Call FUNCTION with N in each of THREADS; the last answer."
  (let ((processes (loop repeat threads
                         collect (mp:process-run-function 'loop function n))))
    (car (last (mapcar #'mp:process-join processes)))))

(setf *work*
      '((conses-1 in-threads 1 conses 12000000)
        (conses-4 in-threads 4 conses 3000000)
        (trees-1 in-threads 1 trees 240)
        (trees-4 in-threads 4 trees 60)))
