;;;; count.lisp - tests of counting without a recording.

(in-package "MPROF/TESTS")

(deftest nothing-is-nothing
  (check (= 0 (mprof:bytes-allocated nil)))
  (check (= 0 (mprof:allocations nil))))

(deftest counts-are-exact
  (check (= 16000 (mprof:bytes-allocated (conses 1000))))
  (check (= 1000 (mprof:allocations (conses 1000))))
  ;; An object and its storage
  (check (= 2 (mprof:allocations (make-array 100)))))

(deftest a-count-is-that-of-the-recording
  (let ((form '(let ((table (make-hash-table)))
                (dotimes (i 1000)
                  (setf (gethash i table) (format nil "~R" i))))))
    ;; What is made only once is there already.
    (eval form)
    (let ((function (compile nil `(lambda () ,form))))
      (funcall function)
      (quietly (funcall function))
      (check (= (bytes) (mprof:bytes-allocated (funcall function))))
      (check (= (allocs) (mprof:allocations (funcall function)))))))

(deftest counting-while-recording
  (quietly
    (check (= 16000 (mprof:bytes-allocated (conses 1000)))))
  (check (<= 1000 (allocs)))
  ;; A recording that begins and ends within
  (check (<= 32000 (mprof:bytes-allocated
                    (progn (conses 1000) (quietly (conses 1000)))))))

(deftest values-follow-the-count
  (check (equal '(0 1 2) (multiple-value-list
                          (mprof:bytes-allocated (values 1 2)))))
  (check (equal '(0) (multiple-value-list (mprof:allocations (values))))))

(deftest an-exit-ends-the-count
  (dotimes (i 100)
    (check (eq 'out (catch 'out (mprof:allocations (throw 'out 'out))))))
  (check (= 1 (mprof:allocations (conses 1)))))

(deftest counts-within-counts
  (let (inner)
    (check (<= 4800 (mprof:bytes-allocated
                     (progn (conses 100)
                            (setf inner (mprof:bytes-allocated (conses 200)))))))
    (check (= 3200 inner))))

(defun nested (n)
  "N counts, each within the last."
  (if (plusp n)
      (mprof:allocations (nested (1- n)))
      0))

(deftest counts-that-are-too-deep
  (nested 64)
  (check-signals mprof:mprof-error (nested 65))
  (check (= 1 (mprof:allocations (conses 1)))))

#+threads
(deftest other-threads-are-not-counted
  (let* ((go nil)
         (thread (mp:process-run-function
                  "busy" (lambda () (loop until go do (conses 100))))))
    (check (= 16000 (mprof:bytes-allocated (conses 1000))))
    (setf go t)
    (mp:process-join thread)
    (check (= 1000 (mprof:allocations (conses 1000))))))

(deftest the-heap-has-a-size
  (let ((before (mprof:heap-current))
        (kept (make-array 1000000 :element-type '(unsigned-byte 8))))
    (check (<= (+ before 1000000) (mprof:heap-peak)))
    (check (<= (mprof:heap-current) (mprof:heap-peak)))
    (check (= 1000000 (length kept)))))
