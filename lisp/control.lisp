;;;; control.lisp - start and stop recording.

(in-package "MPROF")

;;; An ECL without threads has one thread, NIL.  Its locks are NIL, and no thread waits.

(defun make-lock (name)
  "A lock for MP:WITH-LOCK that its owner may take again."
  (declare (ignorable name))
  #+threads (mp:make-lock :name name :recursive t))

(defun current-thread ()
  "The thread that calls."
  #+threads mp:*current-process*)

(defun call-in-thread (function thread)
  "Call FUNCTION without arguments: in THREAD, now or soon."
  #-threads (declare (ignore thread))
  #+threads (unless (eq thread (current-thread))
              (return-from call-in-thread
                (mp:interrupt-process thread function)))
  (funcall function))

(defvar *lock* (make-lock "mprof")
  "Held while recording is started or stopped by WITH-PROFILING.")

(defvar *forms* 0
  "WITH-PROFILING forms, of all threads, that share the present recording.
Guarded by *LOCK*; 0 also while recording was begun by START.")

(defun file-string (file)
  "Return the absolute name of the file that OPEN would open for FILE, a string, a
pathname or NIL."
  (typecase file
    (null nil)
    ((or string pathname)
     (let ((pathname (merge-pathnames
                      (translate-logical-pathname (merge-pathnames file)))))
       (when (wild-pathname-p pathname)
         (invalid-argument "~S matches many files; name one" file))
       (absolute-file (expand-home (namestring pathname)))))
    (t (invalid-argument "~S is not the name of a file" file))))

(defun expand-home (name)
  "NAME, with the user's folder for a tilde at its beginning."
  (if (and (> (length name) 1) (string= name "~/" :end1 2))
      (concatenate 'string (namestring (user-homedir-pathname)) (subseq name 2))
      name))

(defun required-file (file)
  "The same for a file that must be named."
  (or (file-string file)
      (invalid-argument "a file must be named")))

(defun check-stream (stream)
  "STREAM must be one that can be written, T or NIL."
  (unless (or (member stream '(t nil))
              (and (streamp stream) (open-stream-p stream)
                   (output-stream-p stream)))
    (invalid-argument "~S is not a stream for output, T or NIL" stream)))

(defun check-rows (limit-rows)
  "Signal an error unless LIMIT-ROWS is a number of rows."
  (unless (typep limit-rows '(integer 0))
    (invalid-argument "~S is not a number of rows" limit-rows)))

(defun check-function (function)
  "FUNCTION must be one, or its name."
  (unless (or (functionp function)
              (and function (symbolp function) (fboundp function)))
    (invalid-argument "~S is not a function" function)))

;;; The debugger

(defvar *record-debugger* nil
  "True: allocations of the debugger, and of forms that the user evaluates at its
prompt, are recorded, too.")

(defvar *silent* nil
  "True while this thread is in a debugger, and what it allocates is not recorded.")

(defun debug-silently (condition hook)
  "The EXT:*INVOKE-DEBUGGER-HOOK* while recording runs: enter the debugger, which is
to look as it does without us."
  (declare (ignore hook))
  (unless *record-debugger*
    ;; CALL-SILENTLY would need a closure, which would be recorded.
    (unwind-protect
         (progn
           (%mprof-silence 1)
           (let ((*silent* t)
                 (si::*break-hidden-packages*
                   (cons (find-package "MPROF") si::*break-hidden-packages*)))
             (invoke-debugger condition)))
      (%mprof-silence 0))))

(defmacro clear-frame ()
  "16 kB of zeros in the frame of the function that this is in."
  '(ffi:c-inline () () :void
    "{ volatile char zeros[16384]; int i; for (i = 0; i < 16384; i++) zeros[i] = 0; }"
    :one-liner nil))

(defun clear-stack ()
  "Zero the part of the stack that the next call of our caller takes.  ECL leaves bytes of
its frames as they are, and the collector takes for a reference what an earlier call has
left there."
  (clear-frame)
  nil)

(defun call-recorded (function)
  "Call FUNCTION without arguments.  Its allocations are recorded in the debugger,
too: the user asks for that there.  What its calls leave on the stack is out of reach
of what is called later, of the collection at the end above all, which takes each word
there for a reference."
  (clear-frame)
  (multiple-value-prog1
      (if *silent*
          (let ((*silent* nil))
            (unwind-protect (progn (%mprof-silence 0)
                                   (funcall function))
              (%mprof-silence 1)))
          (funcall function))
    (clear-frame)))

(defun begin-to-record (file)
  "%START, with debuggers that are silent, unless there is a hook already."
  (%start file)
  (unless ext:*invoke-debugger-hook*
    (setf ext:*invoke-debugger-hook* 'debug-silently)))

(defun end-to-record ()
  "%STOP, and debuggers are as before."
  (when (eq ext:*invoke-debugger-hook* 'debug-silently)
    (setf ext:*invoke-debugger-hook* nil))
  (%stop))

(defun start (&key file malloc limit live (gc t))
  "Record the allocations of all threads from now on.

FILE, a string or pathname, names the data file; one that exists is replaced.
Without FILE the data is kept in memory.  After a STOP, recording goes on where
it was stopped unless FILE is another file, or MALLOC, LIVE or GC ask for something
else; use RESET to begin anew.  Starting when it runs changes nothing, and is an
ALREADY-RUNNING-ERROR when FILE is another file.  With MALLOC the C heap is recorded,
too, which is a MALLOC-UNSEEN-ERROR unless ECL was started for it.  LIMIT, bytes or a
string such as \"2g\", is what data file and chains may take from the next data file
on.

With LIVE the tables also show live objects: those that the last collection marked.
STOP starts a collection unless GC is NIL.  LIVE may be a ratio, such as 1/512.  Then
one byte in 512 is sampled at random, and all numbers are estimated from the sample.
That costs next to no time and memory.

While a thread is in the debugger, what it allocates is not recorded, unless
*RECORD-DEBUGGER* is true.  Returns no values."
  (let ((file (file-string file)))
    (%choose-heaps malloc)
    (%choose-live live gc malloc)
    (%limit limit)
    (begin-to-record file))
  (values))

(defun stop ()
  "Stop recording, in all threads.  The recorded data stays: see REPORT,
CURRENT-PROFILE and SAVE.  Stopping twice is no error.  Recording has stopped, too,
when a DATA-FILE-ERROR says that the data file lacks something, as its disk was
full; the restart CONTINUE goes on with what there is.  Returns no values."
  (end-to-record)
  (values))

(defun reset ()
  "Forget what was recorded.  When recording runs it goes on, from zero.
Returns no values."
  (%reset)
  (values))

(defun save (file)
  "Write what is recorded so far to FILE, a data file for the mprof command and
for LOAD-PROFILE.  Recording may be running, and goes on.  Returns FILE."
  (%save (required-file file))
  file)

(defun mark (name)
  "Give this moment of the recording NAME, a string of up to 1024 bytes: `mprof
curve' shows it next to the heap's size.  A NOTHING-RECORDED-ERROR when nothing is
recorded now.  Returns no values."
  (unless (stringp name)
    (invalid-argument "~S is not a name for a moment" name))
  (%mark name)
  (values))

(defun status ()
  "What the monitor knows about itself, a property list:

:RUNNING          true while allocations are recorded
:ALLOCS :BYTES    blocks recorded since the first start or reset; their bytes
:OBJECTS :OBJECT-BYTES   of these, Lisp objects (not storage that they own)
:THREADS          that have allocated
:NODES            of all calling-context trees
:FOLDED-ALLOCS    only their innermost functions are known; normally 0
:UNPLACED-ALLOCS  counted without chain or type; normally 0
:FILE-BYTES       in use in the data file
:MEMORY-BYTES     of the monitor beside the data file
:C-ALLOCS :C-BYTES   of :ALLOCS and :BYTES, those of the C heap
:C-FREES :C-FREED-BYTES   what of these was freed"
  (%status))

(defun running-p ()
  "True while allocations are recorded."
  (getf (%status) :running))

(defun begin-recording (file reset malloc limit &optional live (gc t))
  "Begin a recording, or join the one that runs.  Returns :BEGAN, :JOINED when
other forms share it, or :INSIDE when START began it."
  (mp:with-lock (*lock*)
    (cond ((plusp *forms*) (incf *forms*) :joined)
          ((running-p) :inside)
          (t
           (when reset (%reset))
           ;; Whatever fails, fails before the count says that it runs.
           (let ((file (file-string file)))
             (%choose-heaps malloc)
             (%choose-live live gc malloc)
             (%limit limit)
             (setf *forms* 1)
             (handler-bind ((error (lambda (condition)
                                     (declare (ignore condition))
                                     (setf *forms* 0))))
               (begin-to-record file)))
           :began))))

(defun end-recording ()
  "Leave the recording; the last to leave it stops it."
  (mp:with-lock (*lock*)
    (when (and (plusp *forms*) (zerop (decf *forms*)))
      (end-to-record))))

(defun call-with-profiling (function &key (report nil report-p) (stream t) file
                                       threads (reset t) malloc limit live
                                       (gc t))
  "Call FUNCTION without arguments as the body of WITH-PROFILING."
  (let ((tables (if report-p report t))
        (place nil)
        (text nil))
    (check-function function)
    (check-tables tables)
    (check-stream stream)
    (flet ((run ()
             (multiple-value-prog1
                 (unwind-protect
                      (progn
                        (mp:without-interrupts
                          (setf place
                                (begin-recording file reset malloc limit
                                                 live gc)))
                        (call-recorded function))
                   (when (member place '(:began :joined))
                     (end-recording)))
               (when (and tables (or report-p (eq place :began)))
                 (setf text (report :tables tables :stream stream
                                    :threads threads))))))
      (clear-stack)
      (if stream
          (run)
          (let ((values (multiple-value-list (run))))
            (if text text (values-list values)))))))

(defparameter *profiling-options*
  '(:report :stream :file :threads :reset :malloc :limit :live :gc)
  "The options of WITH-PROFILING.")

(defun check-profiling-options (options)
  "Signal an INVALID-ARGUMENT-ERROR unless OPTIONS are options of WITH-PROFILING."
  (let ((form (cond ((atom options) nil)
                    ((consp (first options)) (first options))
                    ((not (member (first options) '(quote function))) options))))
    (cond ((or (not (proper-list-p options))
               (and options (not (keywordp (first options)))))
           (invalid-argument "~S is not a list of options; write (mprof:with-profiling () ~
                              ~:[FORM~;~:*~S~]); options such as (:live t) take the ~
                              place of ()" options form))
          ((oddp (length options))
           (invalid-argument "in ~S an option has no value; forms come behind the list: ~
                              (mprof:with-profiling (:live t) (my-function))" options))
          (t
           (loop for option in options by #'cddr
                 unless (member option *profiling-options*)
                   do (invalid-argument "~S is no option of with-profiling; there are ~
                                         ~{~(~S~)~^, ~}" option *profiling-options*))))))

(defmacro with-profiling (options &body body)
  "Run BODY, record what it allocates, print the tables, return BODY's values.
OPTIONS are keywords and values, often none:

    (mprof:with-profiling () (load-rows 5000))

:REPORT   T (default) prints all tables, NIL none; or names of tables, one or a
          list: :BINS, :LEAKS, :DIRECT, :GRAPH
:STREAM   where to print; default *STANDARD-OUTPUT*; on a terminal ten rows a table.
          NIL returns the tables as a string, in place of BODY's values
:FILE     keeps the data in this file; default is in memory
:THREADS  true: one set of tables for each thread
:RESET    NIL adds to what was recorded before; default T begins anew
:MALLOC   true: the C heap, too; see START
:LIMIT    what data file and chains may take, bytes or \"2g\"; past it, chains are
          of their innermost functions only
:LIVE     true: the tables show live objects, as of a collection at the end, and a
          further table, :ALIVE, shows who allocated them; :GC NIL does not collect.
          With a ratio, such as 1/512, all numbers are estimated from that part of
          the bytes

Allocations of all threads are recorded, not only of the one that runs BODY.
Recording stops however BODY is left; tables are printed when it returns.  After
a throw or an error the data is still there for REPORT and CURRENT-PROFILE.

Nests: inside another WITH-PROFILING, of any thread, or between START and STOP,
the form joins the recording that runs.  It resets nothing, its :FILE is not
used, and it prints only when :REPORT is given.  The recording stops when the
last WITH-PROFILING that shares it is left."
  (check-profiling-options options)
  ;; The tables know this name and charge the body to its caller.
  `(flet ((mprof-body () ,@body))
     (call-with-profiling #'mprof-body ,@options)))
