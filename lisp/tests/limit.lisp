;;;; limit.lisp - tests of WITH-ALLOCATION-LIMIT.

(in-package "MPROF/TESTS")

(defmacro exceeded (&body body)
  "The ALLOCATION-LIMIT-EXCEEDED that BODY signals, or NIL."
  `(handler-case (progn ,@body nil)
     (mprof:allocation-limit-exceeded (condition) condition)))

(defun numbers (condition)
  "What CONDITION says was allocated, and so its profile and the chains of that."
  (let ((profile (mprof:allocation-limit-exceeded-profile condition)))
    (list (mprof:allocation-limit-exceeded-bytes condition)
          (mprof:allocation-limit-exceeded-allocs condition)
          (mprof:profile-bytes profile)
          (mprof:profile-allocs profile)
          (reduce #'+ (mprof:profile-chains profile) :key #'mprof:chain-bytes)
          (reduce #'+ (mprof:profile-chains profile) :key #'mprof:chain-allocs))))

(deftest within-the-limit
  (check (equal '(1 2) (multiple-value-list
                        (mprof:with-allocation-limit (:bytes 0 :allocs 0)
                          (values 1 2)))))
  (check (= 1000 (length (mprof:with-allocation-limit (:bytes 16000 :allocs 1000)
                           (conses 1000)))))
  (check (= 3 (length (mprof:with-allocation-limit () (conses 3)))))
  (check (not (mprof:running-p))))

(deftest above-the-limit
  (let ((condition (exceeded (mprof:with-allocation-limit (:bytes 15999)
                               (conses 1000)))))
    (check (equal '(16000 1000 16000 1000 16000 1000) (numbers condition)))
    (check (eql 15999 (mprof:allocation-limit-exceeded-bytes-limit condition)))
    (check (null (mprof:allocation-limit-exceeded-allocs-limit condition)))
    (check (search "16,000 bytes in 1,000 allocations, where the limit is 15,999 bytes"
                   (princ-to-string condition)))
    (check (search "CONSES" (princ-to-string condition))))
  (check (not (null (exceeded (mprof:with-allocation-limit (:allocs 9)
                                (conses 10))))))
  (check (not (mprof:running-p))))

(deftest what-an-exceeded-limit-allocates-is-what-is-counted
  (let ((function (compile nil '(lambda ()
                                 (let ((table (make-hash-table)))
                                   (dotimes (i 200 table)
                                     (setf (gethash i table)
                                           (format nil "~R" i))))))))
    (funcall function)
    (let ((bytes (mprof:bytes-allocated (funcall function)))
          (allocs (mprof:allocations (funcall function)))
          (condition (exceeded (mprof:with-allocation-limit (:bytes 0 :warm-up 1)
                                 (funcall function)))))
      (check (equal (list bytes allocs bytes allocs bytes allocs)
                    (numbers condition))))))

(deftest continue-returns-the-values
  (check (equal '(2 3)
                (multiple-value-list
                 (handler-bind ((mprof:allocation-limit-exceeded #'continue))
                   (mprof:with-allocation-limit (:allocs 1)
                     (conses 2)
                     (values 2 3)))))))

(deftest the-body-runs-once-more-than-the-warm-up
  (let ((runs 0))
    (exceeded (mprof:with-allocation-limit (:bytes 0 :warm-up 3)
                (incf runs)
                (conses 1)))
    (check (= 4 runs)))
  ;; What is made only once is made in the warm-up.
  (let ((cache nil))
    (check (null (exceeded (mprof:with-allocation-limit (:bytes 0 :warm-up 1)
                             (unless cache (setf cache (conses 5)))))))))

(deftest a-limit-in-a-recording
  (quietly
    (conses 100)
    (let* ((before (bytes))
           (condition (exceeded (mprof:with-allocation-limit (:bytes 0)
                                  (conses 1000)))))
      (check (equal '(16000 1000 16000 1000 16000 1000) (numbers condition)))
      (check (mprof:running-p))
      (check (<= (+ before 16000) (bytes)))))
  (check (<= 17600 (bytes))))

(deftest an-exit-is-not-judged
  (check (eq 'out (catch 'out (mprof:with-allocation-limit (:bytes 0)
                                (conses 10)
                                (throw 'out 'out)))))
  (check (not (mprof:running-p)))
  (check-signals division-by-zero
    (mprof:with-allocation-limit (:bytes 0) (conses 10) (/ 1 (length '()))))
  (check (not (mprof:running-p))))

(deftest limits-within-limits
  (let* (inner
         (outer (exceeded
                  (mprof:with-allocation-limit (:bytes 0)
                    (setf inner (exceeded (mprof:with-allocation-limit (:bytes 0)
                                            (conses 20))))
                    (conses 100)))))
    (check (= 320 (mprof:allocation-limit-exceeded-bytes inner)))
    (check (<= 1920 (mprof:allocation-limit-exceeded-bytes outer)))))

#+threads
(deftest a-limit-is-of-one-thread
  (let* ((go nil)
         (thread (mp:process-run-function
                  "busy" (lambda () (loop until go do (conses 100)))))
         (condition (exceeded (mprof:with-allocation-limit (:bytes 0)
                                (conses 1000)))))
    (setf go t)
    (mp:process-join thread)
    (check (equal '(16000 1000 16000 1000 16000 1000) (numbers condition)))))

(deftest limits-that-are-none
  (check-signals mprof:mprof-error (mprof:with-allocation-limit (:bytes -1) nil))
  (check-signals mprof:mprof-error
    (mprof:with-allocation-limit (:warm-up 1.5) nil))
  (check-signals mprof:mprof-error (mprof:load-profile nil :chains 0)))
