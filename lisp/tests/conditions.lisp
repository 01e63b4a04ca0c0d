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
  (check-signals mprof:invalid-argument-error (mprof:report :verbosity :loud))
  (check-signals mprof:invalid-argument-error (mprof:report :tables nil))
  (check-signals mprof:invalid-argument-error (mprof:start :file 42))
  (check-signals mprof:invalid-argument-error (mprof:save :here))
  (check-signals mprof:invalid-argument-error (mprof:load-profile 42)))

(defmacro check-refused (&rest forms)
  "Each of FORMS must signal an MPROF:INVALID-ARGUMENT-ERROR."
  `(progn ,@(loop for form in forms
                  collect `(check-signals mprof:invalid-argument-error ,form))))

(deftest wrong-options-of-with-profiling
  (dolist (form '((mprof:with-profiling (make-list 10))
                  (mprof:with-profiling ((make-list 10)))
                  (mprof:with-profiling (:live))
                  (mprof:with-profiling (:alive t) 1)
                  (mprof:with-profiling 42)))
    (check-signals mprof:invalid-argument-error (macroexpand-1 form)))
  (handler-case (macroexpand-1 '(mprof:with-profiling (make-list 10)))
    (error (condition)
      (check (search "(mprof:with-profiling () (MAKE-LIST 10))"
                     (princ-to-string condition))))))

(deftest wrong-types-are-told
  (quietly (conses 1))
  (check-refused
   (mprof:start :limit :much) (mprof:start :limit "much")
   (mprof:start :limit 0) (mprof:start :limit (ash 1 80))
   (mprof:save nil) (mprof:save '("a" "b")) (mprof:mark :here)
   (mprof:report :stream 42) (mprof:report :stream nil :tables '(:bins . 2))
   (mprof:report :stream nil :tables 42) (mprof:report :stream nil :format "html")
   (mprof:report :stream nil :limit-rows "ten")
   (mprof:report :stream nil :limit-rows -1)
   (mprof:report :stream nil :focus 42) (mprof:report :stream nil :ignore '(a))
   (mprof:report :stream nil :only #\a) (mprof:report :stream nil :type 42)
   (mprof:report :stream nil :type '("cons" 42))
   (mprof:report :stream (make-string-input-stream ""))
   (mprof:diff nil) (mprof:diff 42) (mprof:diff "a" 42) (mprof:diff "a" "b" :by 1)
   (mprof:diff "a" "b" :sort :size) (mprof:diff "a" "b" :stream "s")
   (mprof:diff "a" "b" :format 1) (mprof:diff "a" "b" :limit-rows 1/2)
   (mprof:load-profile "a" :chains "all") (mprof:current-profile :chains -1)
   (mprof:find-function "A" 42)
   (mprof:call-with-profiling 42) (mprof:call-with-profiling nil)
   (mprof:with-profiling (:stream 42) (check (not "run")))
   (mprof:with-profiling (:report :objects) (check (not "run")))
   (mprof:with-profiling (:file 42 :report nil) (check (not "run")))
   (mprof:with-profiling (:limit :much :report nil) (check (not "run")))
   (mprof:with-allocation-limit (:bytes "many") (check (not "run")))
   (mprof:with-allocation-limit (:warm-up -1) (check (not "run")))
   (mprof:call-with-allocation-limit 42))
  (check (not (mprof:running-p))))

(deftest one-hierarchy
  (dolist (name '(mprof:library-error mprof:unpatched-runtime-error
                  mprof:already-running-error mprof:nothing-recorded-error
                  mprof:data-file-error mprof:report-error
                  mprof:monitor-error mprof:invalid-argument-error
                  mprof:malloc-unseen-error))
    (check (subtypep name 'mprof:mprof-error))))

(deftest messages-are-readable
  (dolist (condition '(mprof:malloc-unseen-error mprof:liveness-unknown-error
                       mprof:sampled-error mprof:already-running-error
                       mprof:unpatched-runtime-error))
    (let ((text (princ-to-string (make-condition condition))))
      (check (not (find #\~ text)))
      (check (not (find #\Newline text))))))

(deftest strings-and-pathnames-are-the-same-files
  (quietly (conses 1))
  (let* ((folder (merge-pathnames (format nil "mprof-names-~D/" (random 1000000))
                                  #p"/tmp/"))
         (*default-pathname-defaults* folder))
    (ensure-directories-exist folder)
    (mprof:save "string.data")
    (mprof:save #p"pathname.data")
    (dolist (name '("string.data" "pathname.data"))
      (let ((file (probe-file (merge-pathnames name folder))))
        (check (not (null file)))
        (when file (delete-file file))))
    (check-signals mprof:invalid-argument-error (mprof:save "*.data"))
    (si:rmdir folder)))
