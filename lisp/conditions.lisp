;;;; conditions.lisp - what can go wrong, one hierarchy.

(in-package "MPROF")

(defmacro with-standard-printing (() &body body)
  "Evaluate BODY with the standard values of the printer's and the reader's variables,
whatever the user has set.  The package stays: relative to it are symbols printed."
  `(let ((*print-base* 10) (*print-radix* nil) (*print-case* :upcase)
         (*print-escape* t) (*print-readably* nil) (*print-pretty* nil)
         (*print-length* nil) (*print-level* nil) (*print-lines* nil)
         (*print-right-margin* nil) (*print-circle* nil) (*print-gensym* t)
         (*print-array* t) (*read-base* 10) (*read-eval* nil)
         (*read-default-float-format* 'single-float))
     ,@body))

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
  (:report
   (lambda (condition stream)
     (declare (ignore condition))
     (format stream "malloc() cannot be seen in this process: start it with ~
                     `ecl --mprof --malloc` or `mprof run -- ecl`")))
  (:documentation "The C heap was to be recorded without libmprof_malloc."))

(define-condition liveness-unknown-error (mprof-error)
  ()
  (:report
   (lambda (condition stream)
     (declare (ignore condition))
     (format stream "live objects are not recorded: start with (mprof:start :live ~
                     t), in an ECL whose collector reports them")))
  (:documentation "What is alive was asked for, and is not known."))

(define-condition sampled-error (mprof-error)
  ()
  (:report
   (lambda (condition stream)
     (declare (ignore condition))
     (format stream "the recording is a sample (:live 1/N): what a form allocates is ~
                     not known exactly; record all with (mprof:start :live t)")))
  (:documentation "What must be exact was asked of a recording of a sample."))

(define-condition already-running-error (mprof-error)
  ()
  (:report "another recording is running; end it with (mprof:stop) first")
  (:documentation "START named another data file than the one in use; or ESCAPES needs a
recording of its own."))

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
         :message (with-standard-printing ()
                    (apply #'format nil control arguments))))

(defun document-readers (&rest names)
  "Give the readers of the classes NAMES the documentation of their slots."
  (dolist (name names)
    (dolist (slot (clos:class-direct-slots (find-class name)))
      (let ((text (documentation slot t)))
        (dolist (reader (clos:slot-definition-readers slot))
          (when text
            (setf (documentation reader 'function) text)))))))

(defun document-functions (&rest names-and-texts)
  "Give each function the text that follows its name."
  (loop for (name text) on names-and-texts by #'cddr
        do (setf (documentation name 'function) text)))

(document-functions
 'library-error-pathname "Return the file of the library that cannot be loaded."
 'data-file-error-pathname "Return the name of the file, or NIL: it has none."
 'data-file-error-reason "Return the system's message, a string or NIL."
 'allocation-limit-exceeded-bytes "Return the bytes that the body allocated."
 'allocation-limit-exceeded-allocs "Return the blocks that the body allocated."
 'allocation-limit-exceeded-bytes-limit "Return the limit of bytes, or NIL."
 'allocation-limit-exceeded-allocs-limit "Return the limit of blocks, or NIL."
 'allocation-limit-exceeded-profile
 "Return the PROFILE of what the body allocated, with its chains.")
