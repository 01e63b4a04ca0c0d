;;;; limits.lisp - a FiveAM suite with limits on what is allocated; README has a part
;;;; of it.  (limits:run-all) prints the results and returns how many passed, and how
;;;; many failed.

(defpackage "LIMITS"
  (:use "COMMON-LISP" "FIVEAM")
  (:export "RUN-ALL"))

(in-package "LIMITS")

(defvar *table* (make-hash-table))

(defun look-up (key)
  (gethash key *table*))

(defun copy-keys (n)
  (let ((keys '()))
    (dotimes (i n keys)
      (push i keys))))

(defun look-up-slowly (key)
  (copy-keys 100)
  (gethash key *table*))

(defgeneric area (shape)
  (:method ((shape symbol)) 1))

(def-suite limits)
(in-suite limits)

(test looking-up-allocates-nothing
  (is (null (mprof:with-allocation-limit (:bytes 0 :warm-up 1)
              (look-up 'key)))))

(test dispatch-is-warm
  (is (= 1 (mprof:with-allocation-limit (:bytes 0 :allocs 0 :warm-up 2)
             (area 'circle)))))

(test looking-up-slowly
  (mprof:with-allocation-limit (:bytes 0 :warm-up 1)
    (look-up-slowly 'key)))

(test an-exceeded-limit-is-signalled
  (signals mprof:allocation-limit-exceeded
    (mprof:with-allocation-limit (:allocs 10)
      (copy-keys 11))))

(defun run-all ()
  (let ((results (run 'limits)))
    (explain! results)
    (values (count-if (lambda (result) (typep result 'fiveam::test-passed)) results)
            (count-if-not (lambda (result) (typep result 'fiveam::test-passed))
                          results))))
