;;;; ffi.lisp - the only file that touches C: monitor/include/mprof.h and the reducer.
;;;;
;;;; Calls go through libffi, so that they work interpreted and compiled and no
;;;; C compiler is needed.  Names that begin with % are these calls.  Each runs
;;;; with interrupts off: the libraries take locks, and an interrupt that leaves
;;;; such a call by a throw would keep them locked.

(in-package "MPROF")

;;; Libraries

(defvar *configured-library*)
(defvar *configured-report-library*)

(defun environment-value (name)
  "The environment variable NAME, or NIL when it is unset or empty."
  (let ((value (si:getenv name)))
    (and value (plusp (length value)) value)))

(defun absolute-file (file)
  "FILE, a string, with the working directory in front when it is relative.
Done on the text: a file name is not to be read as a Lisp pathname."
  (if (and (plusp (length file)) (char= (char file 0) #\/))
      file
      (concatenate 'string (namestring (si:getcwd)) file)))

(defun library-file (library)
  "The file to load for LIBRARY, :MONITOR or :REPORT; and the environment
variable that names another one."
  (multiple-value-bind (variable configured plain)
      (ecase library
        (:monitor
         (values "MPROF_LIBRARY" '*configured-library* "libmprof.so.1"))
        (:report
         (values "MPROF_REPORT_LIBRARY" '*configured-report-library*
                 "libmprof_report.so.1")))
    (let ((given (environment-value variable)))
      (values (cond (given (if (find #\/ given) (absolute-file given) given))
                    ((boundp configured) (symbol-value configured))
                    (t plain))
              variable))))

(defun find-symbol-address (name &optional (module :default))
  "The address of the C symbol NAME in MODULE, the file of a loaded library, or
anywhere in the process; NIL when it is not there."
  (ignore-errors (si:find-foreign-symbol name module :pointer-void 0)))

(defun malloc-seen-p ()
  "Return true if libmprof_malloc was preloaded, so that malloc() is recorded."
  (and (find-symbol-address "mprof_set_malloc_monitor") t))

(defun load-address (name library)
  "The address of the C function NAME.  Loads LIBRARY unless the program has
it already, as one that embeds ECL and links libmprof does.  A libmprof_malloc
that was preloaded has functions of the same names."
  (or (and (not (and (eq library :monitor) (malloc-seen-p)))
           (find-symbol-address name))
      (multiple-value-bind (file variable) (library-file library)
        (flet ((fail (reason)
                 (error 'library-error :pathname file :variable variable
                                       :reason reason)))
          (when (and (find #\/ file) (not (probe-file file)))
            (fail "no such file"))
          (handler-case (si:load-foreign-module file)
            (error (condition)
              (fail (substitute #\Space #\Newline
                                (princ-to-string condition)))))
          (or (find-symbol-address name file)
              (fail (format nil "it has no function ~A" name)))))))

(defun resolve (name)
  "The address of the C function that NAME calls."
  (or (get name 'address)
      (setf (get name 'address)
            (apply #'load-address (get name 'c-function)))))

(defmacro define-c-function (name (c-name library) result &rest parameters)
  "Define NAME as a call of the C function C-NAME of LIBRARY.  PARAMETERS are
of the form (variable type).  Without parameters, and once NAME is resolved,
the call allocates nothing."
  `(progn
     (setf (get ',name 'c-function) '(,c-name ,library))
     (defun ,name ,(mapcar #'first parameters)
       (let ((address (resolve ',name)))
         (mp:without-interrupts
           (si:call-cfun address ,result ',(mapcar #'second parameters)
                         ,(if parameters
                              `(list ,@(mapcar #'first parameters))
                              '())))))))

;;; Terminals

(define-c-function %isatty ("isatty" :report) :int (descriptor :int))

(defun terminal-p (stream)
  "True when what is written to STREAM appears on a terminal.  To ECL no stream
for output alone is interactive; what has no descriptor may say that it is."
  (typecase stream
    (synonym-stream (terminal-p (symbol-value (synonym-stream-symbol stream))))
    (two-way-stream (terminal-p (two-way-stream-output-stream stream)))
    (broadcast-stream nil)
    (t (let ((descriptor (ignore-errors (si:file-stream-fd stream))))
         (if (integerp descriptor)
             (and (ignore-errors (/= 0 (%isatty descriptor))) t)
             (and (ignore-errors (interactive-stream-p stream)) t))))))

;;; Text

(defun pointed-string (pointer)
  "The C string at POINTER as a base string that shares its memory."
  (let ((place (si:allocate-foreign-data :pointer-void 8)))
    (unwind-protect
         (progn
           (si:foreign-data-set-elt place 0 :pointer-void pointer)
           (si:foreign-data-ref-elt place 0 :cstring))
      (si:free-foreign-data place))))

;;; errno

(define-c-function %errno-location ("__errno_location" :monitor) :pointer-void)
(define-c-function %strerror ("strerror" :monitor) :cstring (number :int))

(defun errno-place ()
  "This thread's errno.  Taken before the call that may fail: what happens
after it may change errno."
  (si:foreign-data-recast (%errno-location) 4 :int))

(defun errno-message (place)
  "The system's sentence for the errno in PLACE, or NIL for none."
  (let ((number (si:foreign-data-ref-elt place 0 :int)))
    (and (plusp number) (copy-seq (%strerror number)))))

;;; The monitor

(define-c-function %mprof-start ("mprof_start" :monitor) :int
  (file :cstring))
(define-c-function %mprof-start-in-memory ("mprof_start" :monitor) :int
  (null :pointer-void))
(define-c-function %mprof-stop ("mprof_stop" :monitor) :int)
(define-c-function %mprof-set-heaps ("mprof_set_heaps" :monitor) :int
  (heaps :unsigned-int))
(define-c-function %mprof-set-live ("mprof_set_live" :monitor) :int
  (mode :int))
(define-c-function %mprof-set-sampling ("mprof_set_sampling" :monitor) :int
  (bytes :unsigned-int))
(define-c-function %mprof-snapshot ("mprof_snapshot" :monitor) :int
  (number :pointer-void))
(define-c-function %mprof-save-alive ("mprof_save_alive" :monitor) :int
  (file :cstring) (from :unsigned-int) (until :unsigned-int))
(define-c-function %mprof-keepers ("mprof_keepers" :monitor) :int
  (from :unsigned-int) (until :unsigned-int))
(define-c-function %mprof-set-limit ("mprof_set_limit" :monitor) :void
  (bytes :uint64-t))
(define-c-function %mprof-set-warnings ("mprof_set_warnings" :monitor) :void
  (on :int))
(define-c-function %mprof-reexec ("mprof_reexec" :monitor) :int)
(define-c-function %mprof-reset ("mprof_reset" :monitor) :int)
(define-c-function %mprof-save ("mprof_save" :monitor) :int
  (file :cstring))
(define-c-function %mprof-status ("mprof_status" :monitor) :int
  (status :pointer-void))
(define-c-function %mprof-mark ("mprof_mark" :monitor) :int
  (name :cstring))
(define-c-function %mprof-count-begin ("mprof_count_begin" :monitor) :int)
(define-c-function %mprof-count-end ("mprof_count_end" :monitor) :int)
(define-c-function %mprof-counted ("mprof_counted" :monitor) :void
  (allocs :pointer-void) (bytes :pointer-void))
(define-c-function %signal-main ("mprof_signal_main" :monitor) :int
  (signal :int))
(define-c-function %mprof-silence ("mprof_silence" :monitor) :void
  (begins :int))
(define-c-function %mprof-lisp-heap-current
    ("mprof_lisp_heap_current" :monitor) :uint64-t)
(define-c-function %mprof-lisp-heap-peak
    ("mprof_lisp_heap_peak" :monitor) :uint64-t)
(define-c-function %mprof-scope-begin ("mprof_scope_begin" :monitor) :int
  (scope :pointer-void) (heaps :unsigned-int))
(define-c-function %mprof-scope-end ("mprof_scope_end" :monitor) :int
  (scope :pointer-void))
(define-c-function %mprof-scope-save ("mprof_scope_save" :monitor) :int
  (scope :pointer-void) (file :cstring))
(define-c-function %mprof-scope-free ("mprof_scope_free" :monitor) :void
  (scope :pointer-void))
(define-c-function %mprof-strerror ("mprof_strerror" :monitor) :cstring
  (code :int))

(defun check-code (code file errno)
  "Signal the condition for CODE, one of mprof.h's MPROF_E codes, unless 0."
  (case code
    (0 nil)
    ((1 2) (error 'unpatched-runtime-error))
    (3 (error 'already-running-error))
    (4 (error 'nothing-recorded-error))
    ((5 6) (error 'data-file-error :pathname file
                                   :action (if (= code 5) "create" "write")
                                   :reason (errno-message errno)))
    (8 (error 'malloc-unseen-error))
    (10 (error 'liveness-unknown-error))
    (11 (error 'sampled-error))
    (t (error 'monitor-error
              :message (format nil "~A~@[: ~A~]"
                               (copy-seq (%mprof-strerror code))
                               (errno-message errno))))))

(defun read-bytes (text)
  "TEXT as a number of bytes, \"64m\" as 64 MiB, k and g as KiB and GiB; NIL: it
is none."
  (let* ((end (position-if-not #'digit-char-p text))
         (unit (and end (= (1+ end) (length text))
                    (cdr (assoc (char text end)
                                '((#\k . 10) (#\m . 20) (#\g . 30))
                                :test #'char-equal)))))
    (when (and (plusp (or end (length text)))
               (or unit (null end)))
      (ash (parse-integer text :end end) (or unit 0)))))

(defun %limit (limit)
  "Limit data file and tree of recordings that begin from now on to LIMIT, bytes
or a string such as \"1g\"; NIL leaves the limit as it is."
  (when limit
    (let ((bytes (if (stringp limit) (read-bytes limit) limit)))
      (unless (typep bytes '(integer 1))
        (invalid-argument "~S is not a number of bytes" limit))
      (when (> bytes (ash 16 30))
        (invalid-argument "~A is too much: a data file cannot have more than 16g"
                          limit))
      (%mprof-set-limit bytes))))

(defun %choose-heaps (malloc)
  "Let the next recording cover the Lisp heap, and with MALLOC the C heap."
  (check-code (%mprof-set-heaps (if malloc 3 1)) nil (errno-place)))

(defun read-live (text)
  "What TEXT says of :LIVE: \"1\" is T, and \"1/512\" that ratio; NIL: nothing."
  (let* ((slash (position #\/ text))
         (bytes (and (eql slash 1) (char= (char text 0) #\1)
                     (read-bytes (subseq text 2)))))
    (cond ((string= text "1") t)
          ((typep bytes '(integer 2)) (/ bytes)))))

(defun sampling-of (live)
  "Bytes to one of which :LIVE LIVE looks, or 0: at all."
  (typecase live
    (boolean 0)
    ((rational (0) (1)) (if (= (numerator live) 1) (denominator live) 1))
    (t 1)))

(defun %choose-live (live gc malloc)
  "If LIVE, let the next recording contain live objects, and with GC collect garbage at
its end.  If LIVE is a ratio, use a sample."
  (let ((bytes (sampling-of live)))
    (unless (or (zerop bytes) (<= 2 bytes (ash 1 20)))
      (invalid-argument "~S is no value for :LIVE; there are T, NIL, and ratios ~
                         such as 1/512, from 1/2 to 1/1048576"
                        live))
    (when (and malloc (plusp bytes))
      (invalid-argument "the C heap is not sampled: :LIVE ~S goes without :MALLOC"
                        live))
    (check-code (%mprof-set-live (cond ((not live) 0) (gc 1) (t 2)))
                nil (errno-place))
    (check-code (%mprof-set-sampling bytes) nil (errno-place))))

(defun %warn-at-end ()
  "Print a line on standard error at the end if the data file is incomplete."
  (%mprof-set-warnings 1))

(defun %reexec ()
  "Begin the whole program again, with malloc() seen.  Returns only by an error."
  (check-code (%mprof-reexec) nil (errno-place)))

(defun %start (file)
  "Start the monitor, into FILE, a string, or into memory for NIL."
  ;; Allocate what the stop needs before the recording begins.
  (resolve '%mprof-stop)
  (let ((errno (errno-place))
        (argument (if file (c-string file) (si:allocate-foreign-data :void 0))))
    (check-code (if file
                    (%mprof-start argument)
                    (%mprof-start-in-memory argument))
                file errno)))

(defun %stop ()
  "Stop the monitor.  Allocates nothing while it runs."
  (let ((code (%mprof-stop)))
    (unless (zerop code)
      ;; Nothing that was allocated since has changed errno.
      (let ((errno (errno-place)))
        (restart-case (check-code code nil errno)
          (continue ()
            :report "Go on with what was recorded."))))))

(defun %snapshot ()
  "Begin an epoch, and return its number."
  (let ((number (si:allocate-foreign-data :unsigned-int 4)))
    (unwind-protect
         (let ((code (%mprof-snapshot number)))
           (when (= code 7)
             (error 'monitor-error :message "there have been 254 snapshots"))
           (check-code code nil (errno-place))
           (si:foreign-data-ref-elt number 0 :unsigned-int))
      (si:free-foreign-data number))))

(defun %save-alive (file from until)
  "Write what is recorded to FILE, a string, and count as alive only what was
allocated from the epoch FROM until the epoch UNTIL."
  (let ((errno (errno-place)))
    (check-code (%mprof-save-alive (c-string file) from until) file errno)))

(defun %look (from until)
  "Find what keeps the objects alive that were allocated from the epoch FROM until the
epoch UNTIL."
  (check-code (%mprof-keepers from until) nil (errno-place)))

(defun %reset ()
  "Forget what was recorded; nothing recorded is no error."
  (let ((code (%mprof-reset)))
    (unless (member code '(0 4))
      (check-code code nil (errno-place)))))

(defun %save (file)
  "Write what is recorded to FILE, a string."
  (let ((errno (errno-place)))
    (check-code (%mprof-save (c-string file)) file errno)))

(defun %count-begin ()
  "Count from here on what this thread allocates.  Allocates nothing after that."
  ;; Allocate what the end needs before the counting begins.
  (resolve '%mprof-count-end)
  (let ((code (%mprof-count-begin)))
    (unless (zerop code)
      (check-code code nil (errno-place)))))

(defun %count-end ()
  "End it.  Allocates nothing before that."
  (%mprof-count-end))

(defun %counted ()
  "What the last count of this thread has: allocations and bytes, two values."
  (let ((numbers (loop repeat 2
                       collect (si:allocate-foreign-data :uint64-t 8))))
    (unwind-protect
         (progn
           (apply #'%mprof-counted numbers)
           (values-list (loop for number in numbers
                              collect (si:foreign-data-ref-elt number 0
                                                               :uint64-t))))
      (mapc #'si:free-foreign-data numbers))))

;;; Scopes: allocations of this thread between two moments, by chains.

(defparameter *scope-fields* 3
  "The fields of struct mprof_scope; each takes eight bytes.")

(defun %make-scope ()
  "A scope that has not begun, to be freed by %SCOPE-FREE."
  (let ((scope (si:allocate-foreign-data :void (* 8 *scope-fields*))))
    (dotimes (i *scope-fields* scope)
      (si:foreign-data-set-elt scope (* 8 i) :uint64-t 0))))

(defun scope-ender (scope)
  "A function that ends SCOPE, and allocates nothing before that."
  (let ((address (resolve '%mprof-scope-end))
        (arguments (list scope)))
    (lambda ()
      (let ((code (mp:without-interrupts
                    (si:call-cfun address :int '(:pointer-void) arguments))))
        (unless (zerop code)
          (check-code code nil (errno-place)))))))

(defun %scope-begin (scope)
  "Record this thread's allocations in the Lisp heap in SCOPE from here on.
Once that is so, nothing is allocated in here."
  (let* ((errno (errno-place))
         (code (%mprof-scope-begin scope 1)))
    (unless (zerop code)
      (check-code code nil errno))))

(defun %scope-counted (scope)
  "Bytes and blocks that were allocated in SCOPE, which has ended."
  (values (si:foreign-data-ref-elt scope 8 :uint64-t)
          (si:foreign-data-ref-elt scope 0 :uint64-t)))

(defun %scope-save (scope file)
  "Write what was allocated in SCOPE to the data file FILE, a string."
  (let ((errno (errno-place)))
    (check-code (%mprof-scope-save scope (c-string file)) file errno)))

(defun %scope-free (scope)
  "Give back what SCOPE takes, whether it has ended or not."
  (%mprof-scope-free scope)
  (si:free-foreign-data scope))

(defun %mark (name)
  "Give this moment of the recording NAME, a string."
  (let ((errno (errno-place)))
    (check-code (%mprof-mark (c-string name)) nil errno)))

(defparameter *status-fields*
  '(:running :allocs :bytes :objects :object-bytes :threads :nodes
    :folded-allocs :unplaced-allocs :file-bytes :memory-bytes
    :c-allocs :c-bytes :c-frees :c-freed-bytes)
  "The fields of struct mprof_status; each takes eight bytes.")

(defun %status ()
  "The monitor's status: a property list of *STATUS-FIELDS*."
  (let ((struct (si:allocate-foreign-data
                 :void (* 8 (length *status-fields*)))))
    (unwind-protect
         (progn
           (check-code (%mprof-status struct) nil (errno-place))
           (loop for field in *status-fields*
                 for offset from 0 by 8
                 collect field
                 collect (if (eq field :running)
                             (/= 0 (si:foreign-data-ref-elt struct offset
                                                            :int))
                             (si:foreign-data-ref-elt struct offset
                                                      :uint64-t))))
      (si:free-foreign-data struct))))

;;; The reducer

(define-c-function %mprof-report-string ("mprof_report_string" :report)
  :pointer-void (arguments :cstring))
(define-c-function %mprof-report-free ("mprof_report_free" :report)
  :void (string :pointer-void))

(defun %report (arguments)
  "What the mprof command prints when called with ARGUMENTS, strings."
  (when (some (lambda (argument) (find #\Newline argument)) arguments)
    (invalid-argument "a file name must not contain a newline"))
  (let ((result (%mprof-report-string
                 (c-string (format nil "~{~A~^~%~}" arguments)))))
    (when (si:null-pointer-p result)
      (error 'monitor-error :message "out of memory"))
    (unwind-protect
         (let* ((bytes (pointed-string result))
                (text (decode-utf-8 bytes 1)))
           (unless (char= (char bytes 0) #\0)
             (error 'report-error
                    :message (string-right-trim '(#\Newline) text)))
           text)
      (%mprof-report-free result))))
