;;;; conditions.lisp - what can go wrong, one hierarchy.

(in-package "MPROF")

(define-condition mprof-error (error)
  ()
  (:documentation "Superclass of all errors that MPROF signals."))

(define-condition library-error (mprof-error)
  ((pathname :initarg :pathname :reader library-error-pathname)
   (variable :initarg :variable :reader library-error-variable)
   (reason :initarg :reason :initform nil :reader library-error-reason))
  (:report
   (lambda (condition stream)
     (format stream "cannot load ~A~@[ (~A)~]; install mprof, or set ~A to ~
                     the file's path"
             (library-error-pathname condition)
             (library-error-reason condition)
             (library-error-variable condition))))
  (:documentation "One of mprof's shared libraries cannot be loaded."))

(define-condition unpatched-runtime-error (mprof-error)
  ()
  (:report
   (lambda (condition stream)
     (declare (ignore condition))
     (format stream "this ECL (~A) has no hook for the allocation monitor; ~
                     run it by `mprof run --lisp`, or the program in a patched ~
                     one, as mprof's runtime-patch/build-ecl makes it"
             (lisp-implementation-version))))
  (:documentation "The running ECL was built without mprof's patch."))

(define-condition malloc-unseen-error (mprof-error)
  ()
  (:report "malloc() cannot be seen in this process: start it with ~
            `ecl --mprof --malloc` or `mprof run -- ecl`")
  (:documentation "The C heap was to be recorded without libmprof_malloc."))

(define-condition liveness-unknown-error (mprof-error)
  ()
  (:report "it is not recorded what is alive: start with :live t, in an ECL whose ~
            collector tells that")
  (:documentation "What is alive was asked for, and is not known."))

(define-condition sampled-error (mprof-error)
  ()
  (:report "the recording is of a sample (:live 1/N): what a form allocates is not ~
            known exactly")
  (:documentation "What must be exact was asked of a recording of a sample."))

(define-condition already-running-error (mprof-error)
  ()
  (:report "a profile is being recorded into another file; stop that first")
  (:documentation "START named another data file than the one in use."))

(define-condition nothing-recorded-error (mprof-error)
  ()
  (:report "nothing has been recorded")
  (:documentation "There is no profile to save or to report."))

(define-condition data-file-error (mprof-error)
  ((pathname :initarg :pathname :initform nil
             :reader data-file-error-pathname)
   (action :initarg :action :initform "write" :reader data-file-error-action)
   (reason :initarg :reason :initform nil :reader data-file-error-reason))
  (:report
   (lambda (condition stream)
     (format stream "cannot ~A ~:[the data file~;~:*~A~]~@[: ~A~]"
             (data-file-error-action condition)
             (data-file-error-pathname condition)
             (data-file-error-reason condition))))
  (:documentation
   "A file cannot be created or written.  REASON is the system's message."))

(define-condition message-error (mprof-error)
  ((message :initarg :message :reader message-error-message))
  (:report
   (lambda (condition stream)
     (write-string (message-error-message condition) stream))))

(define-condition report-error (message-error)
  ()
  (:documentation "A data file cannot be read, or no table be made of it."))

(define-condition monitor-error (message-error)
  ()
  (:documentation "The monitor refused for a reason of its own: no memory."))

(define-condition invalid-argument-error (message-error)
  ()
  (:documentation "An argument or an option is not one that MPROF knows."))

(define-condition allocation-limit-exceeded (mprof-error)
  ((bytes :initarg :bytes :reader allocation-limit-exceeded-bytes)
   (allocs :initarg :allocs :reader allocation-limit-exceeded-allocs)
   (bytes-limit :initarg :bytes-limit
                :reader allocation-limit-exceeded-bytes-limit)
   (allocs-limit :initarg :allocs-limit
                 :reader allocation-limit-exceeded-allocs-limit)
   (profile :initarg :profile :reader allocation-limit-exceeded-profile))
  (:report
   (lambda (condition stream)
     (report-exceeded-limit condition stream)))
  (:documentation
   "The body of a WITH-ALLOCATION-LIMIT allocated BYTES in ALLOCS blocks.  The limits
are BYTES-LIMIT and ALLOCS-LIMIT, NIL for none; PROFILE, a PROFILE, has what was
allocated in the body, with its chains, and nothing else."))

(defun invalid-argument (control &rest arguments)
  "Signal an INVALID-ARGUMENT-ERROR."
  (error 'invalid-argument-error
         :message (apply #'format nil control arguments)))
