;;;; conditions.lisp - tests of what goes wrong.

(in-package "MPROF/TESTS")

(deftest nothing-recorded
  (mprof:stop)
  (mprof:reset)
  (check-signals mprof:nothing-recorded-error (mprof:report :stream nil))
  (check-signals mprof:nothing-recorded-error (mprof:current-profile))
  (check-signals mprof:nothing-recorded-error
    (mprof:save "/tmp/mprof-never.data")))

(deftest files-that-cannot-be
  (check-signals mprof:data-file-error (mprof:start :file "/no/such/folder/x"))
  (check (not (mprof:running-p)))
  (check-signals mprof:data-file-error (mprof:start :file "/tmp/"))
  (quietly (conses 1))
  (check-signals mprof:data-file-error (mprof:save "/no/such/folder/x"))
  (check-signals mprof:report-error (mprof:load-profile "/no/such/file"))
  (check-signals mprof:report-error (mprof:load-profile "/etc/passwd"))
  (check (= 1 (allocs))))

(deftest another-file-while-one-is-written
  (mprof:start)
  (check-signals mprof:already-running-error
    (mprof:start :file "/tmp/mprof-other.data"))
  (check (mprof:running-p)))

(deftest arguments-that-are-none
  (quietly (conses 1))
  (check-signals mprof:invalid-argument-error (mprof:report :tables :objects))
  (check-signals mprof:invalid-argument-error (mprof:report :verbosity :loud)))

(deftest one-hierarchy
  (dolist (name '(mprof:library-error mprof:unpatched-runtime-error
                  mprof:already-running-error mprof:nothing-recorded-error
                  mprof:data-file-error mprof:report-error
                  mprof:monitor-error mprof:invalid-argument-error
                  mprof:malloc-unseen-error))
    (check (subtypep name 'mprof:mprof-error))))
