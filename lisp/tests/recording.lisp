;;;; recording.lisp - tests of starting, stopping and printing.

(in-package "MPROF/TESTS")

(defun bytes ()
  (getf (mprof:status) :bytes))

(defun allocs ()
  (getf (mprof:status) :allocs))

(defun conses (n)
  "A list of N conses and nothing else."
  (declare (notinline list))
  (let ((result '()))
    (dotimes (i n result)
      (setf result (cons nil result)))))

(defmacro quietly (&body body)
  `(mprof:with-profiling (:report nil) ,@body))

(deftest exactly-the-body-is-recorded
  (quietly (conses 1000))
  (check (= 1000 (allocs)))
  (check (= 16000 (bytes)))
  (quietly nil)
  (check (= 0 (allocs))))

(deftest all-values-are-returned
  (check (equal '(1 2 3)
                (multiple-value-list (quietly (values 1 2 3)))))
  (check (equal '() (multiple-value-list (quietly (values))))))

(deftest moments-have-names
  (check-signals mprof:nothing-recorded-error (mprof:mark "too early"))
  (quietly (check (null (multiple-value-list (mprof:mark "begin"))))
           (check-signals mprof:mprof-error
             (mprof:mark (make-string 2000 :initial-element #\x))))
  (check-signals mprof:nothing-recorded-error (mprof:mark "too late")))

(deftest any-exit-stops-the-recording
  (check (eq 'thrown (catch 'out (quietly (throw 'out 'thrown)))))
  (check (not (mprof:running-p)))
  (check (eq 'left (block nil (quietly (conses 3) (return 'left)))))
  (check (not (mprof:running-p)))
  (check (= 3 (allocs)))
  (check (eq 'handled (handler-case (quietly (error "no"))
                        (error () 'handled))))
  (check (not (mprof:running-p))))

(deftest forms-nest
  (quietly
    (conses 10)
    (quietly (conses 20))
    (check (mprof:running-p))
    (conses 30))
  (check (not (mprof:running-p)))
  (check (<= 60 (allocs))))

(deftest without-reset-numbers-add-up
  (quietly (conses 10))
  (mprof:with-profiling (:report nil :reset nil) (conses 5))
  (check (= 15 (allocs))))

(deftest start-and-stop-by-hand
  (mprof:start)
  (check (mprof:running-p))
  (mprof:start)
  (conses 7)
  (mprof:stop)
  (mprof:stop)
  (check (not (mprof:running-p)))
  (check (<= 7 (allocs)))
  (mprof:reset)
  (check (= 0 (allocs))))

(deftest tables-are-printed-where-they-should
  (let ((text (with-output-to-string (*standard-output*)
                (mprof:with-profiling () (conses 100)))))
    (check (search "Allocation bins" text))
    (check (search "Direct allocation" text))
    (check (search "Allocation call graph" text))
    (check (search "1.60 kB in 100 blocks" text)))
  (let ((text (with-output-to-string (stream)
                (mprof:with-profiling (:report :direct :stream stream)
                  (conses 100)))))
    (check (search "Direct allocation" text))
    (check (not (search "Allocation bins" text))))
  (check (stringp (mprof:with-profiling (:stream nil) (conses 2))))
  (check (equal '(1 2) (multiple-value-list
                        (mprof:with-profiling (:stream nil :report nil)
                          (values 1 2)))))
  (check (stringp (mprof:report :stream nil :verbosity :terse
                                :tables '(:bins :graph) :threads t
                                :all-frames t))))

(deftest a-named-file-stays
  (let ((file (format nil "/tmp/mprof-test-~D.data" (random 1000000000))))
    (unwind-protect
         (progn
           (mprof:with-profiling (:report nil :file file) (conses 50))
           (mprof:reset)
           (check (= 50 (mprof:profile-allocs (mprof:load-profile file)))))
      (when (probe-file file)
        (delete-file file)))))

#+threads
(deftest threads-are-recorded-and-named
  (quietly
    (mapc #'mp:process-join
          (loop for i below 4
                collect (mp:process-run-function
                         (format nil "worker ~D" i)
                         (lambda () (conses 1000))))))
  (check (<= 4000 (allocs)))
  (let ((names (mapcar #'mprof:thread-name
                       (mprof:profile-threads (mprof:current-profile)))))
    (dotimes (i 4)
      (check (member (format nil "worker ~D" i) names :test #'equal)))))

#+threads
(deftest a-joined-thread-has-ended
  (dotimes (i 20)
    (quietly
      (mp:process-join (mp:process-run-function "joined" #'conses 10)))
    (check (mprof:thread-ended-p
            (find "joined" (mprof:profile-threads (mprof:current-profile))
                  :key #'mprof:thread-name :test #'equal)))))

#+threads
(deftest reporting-and-stopping-while-others-run
  (let* ((end nil)
         (worker (mp:process-run-function
                  "busy" (lambda () (loop until end do (conses 100))))))
    (unwind-protect
         (dotimes (i 20)
           (mprof:start)
           (conses 10)
           (check (stringp (mprof:report :stream nil :verbosity :terse)))
           (mprof:stop)
           (when (evenp i)
             (mprof:reset)))
      (setf end t)
      (mp:process-join worker))))

(defun compiled-lister (n)
  "A compiled function in a library of its own; its local function conses."
  (let ((*compile-verbose* nil)
        (*standard-output* (make-broadcast-stream)))
    (compile nil `(lambda (x)
                    (flet ((pair (y) (cons y ,n)))
                      (declare (notinline pair))
                      (mapcar #'pair (list x x)))))))

(deftest libraries-come-and-go-between-recordings
  (mprof:reset)
  (let ((expected 0))
    (dotimes (i 4)
      (let ((function (compiled-lister i)))
        (mprof:with-profiling (:report nil :reset nil)
          (funcall function i))
        ;; Two conses each for LIST and PAIR, three for MAPCAR, #'PAIR.
        (incf expected 8))
      (si:gc t)
      (si:gc t)
      (check (= expected (allocs))))))

(defun bytes-of-debugger (n)
  "What is recorded when the debugger conses N times, and the program once."
  (let ((condition (make-condition 'simple-error)))
    (quietly (catch 'left
               (let ((*debugger-hook* (lambda (condition hook)
                                        (declare (ignore condition hook))
                                        (conses n)
                                        (throw 'left nil))))
                 (invoke-debugger condition)))
             (conses 1)))
  (bytes))

(deftest debuggers-are-not-recorded
  (let ((none (bytes-of-debugger 0)))
    (check (= none (bytes-of-debugger 1000)))
    (check (<= 16 none 200))
    (let ((mprof:*record-debugger* t))
      (check (< 0 (bytes-of-debugger 0) 16000))
      (check (< 16000 (bytes-of-debugger 1000)))))
  (check (null ext:*invoke-debugger-hook*))
  ;; What is asked for in the debugger is recorded and counted there.
  (let ((exceeded nil) (counted 0) (before 0))
    (quietly (catch 'left
               (let ((*debugger-hook*
                       (lambda (condition hook)
                         (declare (ignore condition hook))
                         (handler-case (mprof:with-allocation-limit (:bytes 15)
                                         (conses 1))
                           (mprof:allocation-limit-exceeded () (setf exceeded t)))
                         (setf counted (mprof:bytes-allocated (conses 10))
                               before (bytes))
                         (quietly (conses 1000))
                         (throw 'left nil))))
                 (invoke-debugger (make-condition 'simple-error)))))
    (check (eq t exceeded))
    (check (= 160 counted))
    (check (<= 16000 (- (bytes) before) 17000)))
  (let* ((hook (lambda (condition hook) (declare (ignore condition hook))))
         (ext:*invoke-debugger-hook* hook))
    (quietly nil)
    (check (eq hook ext:*invoke-debugger-hook*))))
