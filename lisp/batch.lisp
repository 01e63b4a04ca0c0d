;;;; batch.lisp - ecl --mprof script.lsp [args...]
;;;;
;;;; The script runs as ECL's --shell runs it, in the main thread, inside ECL's
;;;; processing of its command line.  That prints an uncaught error and quits
;;;; with status 1.  This file prints the tables, however the script ends:
;;;;
;;;;     returns, (ext:quit n), an error    RUN-SCRIPT is unwound
;;;;     (ext:exit n)                       an exit hook; nothing is unwound
;;;;     an entry to the debugger           the debugger's hook quits instead
;;;;     SIGINT, SIGTERM, SIGHUP, SIGQUIT   a handler quits in the main thread
;;;;
;;;; After SIGKILL the data file holds all that was recorded.

(in-package "MPROF")

(defstruct batch
  "One run of a script."
  data                    ; data file, absolute
  name                    ; the same as it was given
  output                  ; file for the tables, or NIL
  (stream *standard-output*) ; else the tables go there
  (main (current-thread))   ; thread that runs the script
  (lock (make-lock "mprof batch"))
  (malloc nil)            ; the C heap is recorded, too
  (limit nil)             ; of data file and chains, as text
  (live nil)              ; live objects are recorded
  (finished nil)          ; under lock: the tables are written, or being so
  (failed nil))           ; they could not be

;;; The command line

(defun complain (control &rest arguments)
  "Print one line on standard error, also of a message that has several."
  (ignore-errors (finish-output *standard-output*))
  (ignore-errors
   (format *error-output* "~&mprof: ~A~%"
           (substitute #\Space #\Newline
                       (apply #'format nil control arguments)))
   (finish-output *error-output*)))

(defun fail (status control &rest arguments)
  "Print one line on standard error and quit."
  (apply #'complain control arguments)
  (ext:quit status))

(defun live-of-environment ()
  "What MPROF_LIVE says, or quit."
  (let ((value (environment-value "MPROF_LIVE")))
    (and value
         (or (read-live value)
             (fail 2 "MPROF_LIVE: ~A is neither 1 nor a ratio such as 1/512"
                   value)))))

(defun parse-arguments (arguments)
  "Return the values of --mprof-data, --mprof-output, --malloc, --mprof-limit and --live,
and the rest: the script and its arguments."
  (let ((data (or (environment-value "MPROF_DATA") "mprof.data"))
        (output nil)
        (malloc nil)
        (live nil)
        (limit (environment-value "MPROF_LIMIT")))
    (flet ((set-option (name value)
             (when (zerop (length value))
               (fail 2 "option ~A needs a ~:[file name~;number of bytes~]" name
                     (string= name "--mprof-limit")))
             (cond ((string= name "--mprof-data") (setf data value))
                   ((string= name "--mprof-output") (setf output value))
                   (t (setf limit value)))))
      (loop
        (let* ((argument (or (first arguments)
                             (fail 2 "no script named after --mprof")))
               (equals (position #\= argument))
               (name (subseq argument 0 equals)))
          (cond ((member name '("--mprof-data" "--mprof-output" "--mprof-limit")
                         :test #'string=)
                 (pop arguments)
                 (set-option name (if equals
                                      (subseq argument (1+ equals))
                                      (pop arguments))))
                ((member argument '("--malloc" "--mprof-malloc")
                         :test #'string=)
                 (pop arguments)
                 (setf malloc t))
                ((member argument '("--live" "--mprof-live") :test #'string=)
                 (pop arguments)
                 (setf live t))
                ((and equals (member name '("--live" "--mprof-live") :test #'string=))
                 (pop arguments)
                 (let ((value (subseq argument (1+ equals))))
                   (setf live (or (read-live value)
                                  (fail 2 "~A is no ratio such as 1/512" value)))))
                ((and (> (length name) 7)
                      (string= name "--mprof-" :end1 8))
                 (fail 2 "unknown option ~A" name))
                (t
                 (return (values data output malloc limit
                                 (or live (live-of-environment)) arguments)))))))))

(defun loadable-p (script)
  "True when LOAD finds SCRIPT: it adds the known types to a name without one."
  (flet ((there-p (file)
           (member (ext:file-kind file t) '(:file :special))))
    (let ((file (merge-pathnames script)))
      (or si:*load-search-list*
          (if (pathname-type file)
              (there-p file)
              (loop for (type) in ext:*load-hooks*
                    thereis (there-p (make-pathname :type type
                                                    :defaults file))))))))

(defun check-output (file)
  "Signal a DATA-FILE-ERROR unless the tables can be written to FILE."
  (handler-case
      (close (open file :direction :output :if-exists :append
                        :if-does-not-exist :create))
    (error ()
      (error 'data-file-error :pathname file :action "create"))))

;;; The end

(defun output-format (output)
  "What OUTPUT, the name of a file or NIL, is for: a page if it ends in .html."
  (let ((start (- (length output) (length ".html"))))
    (if (and (plusp start) (string-equal ".html" output :start2 start))
        :html
        :text)))

(defun write-tables (batch text)
  "Write TEXT, the tables of BATCH, where they are wanted."
  (let ((output (batch-output batch)))
    (if output
        (with-open-file (stream output :direction :output
                                       :if-exists :supersede
                                       :if-does-not-exist :create
                                       :external-format :utf-8)
          (write-string text stream))
        (let ((stream (batch-stream batch)))
          (fresh-line stream)
          (write-string text stream)
          (finish-output stream)))))

(defun batch-text (batch)
  "The summary and short tables of BATCH, or a page."
  (report-text (batch-data batch)
               :format (output-format (batch-output batch))))

(defun finish (batch)
  "Stop recording and print the tables, once.  Another thread that ends the
program meanwhile waits for it."
  (mp:with-lock ((batch-lock batch))
    (unless (batch-finished batch)
      (stop-quietly)
      (default-signals)
      (handler-case
          (let ((text (batch-text batch)))
            ;; EXT:QUIT of another thread kills this one at any point, with
            ;; interrupts off or not.  Until here the exit hook begins again.
            (setf (batch-finished batch) t)
            (write-tables batch text))
        (error (condition)
          (setf (batch-finished batch) t
                (batch-failed batch) t)
          (complain "~A" condition))))))

(defun stop-quietly ()
  "Stop recording; an error becomes a line on standard error.  If the data file is
incomplete, the monitor warns at the end, because of %WARN-AT-END."
  (handler-case (stop)
    (data-file-error ())
    (mprof-error (condition) (complain "~A" condition))))

(defun quit-from-main (batch status)
  "Quit with STATUS.  EXT:QUIT loses the status in a thread other than the main
one, so let that one call it."
  (call-in-thread (lambda () (ext:quit status)) (batch-main batch)))

;;; Signals

(defun ending-signals ()
  "The signals besides SIGINT that end the script, each with a word.  Of SIGHUP and
SIGQUIT those that were not ignored from the beginning, as by nohup."
  (cons (cons ext:+sigterm+ "terminated")
        (remove-if #'ignored-p (list (cons ext:+sighup+ "hung up")
                                     (cons ext:+sigquit+ "quit"))
                   :key #'first)))

(defun ignored-p (signal)
  "Return true if this program ignores SIGNAL, or if Linux does not show that."
  (with-open-file (status "/proc/self/status" :if-does-not-exist nil
                                              :external-format :latin-1)
    (loop with field = "SigIgn:"
          for line = (and status (read-line status nil))
          while line
          when (eql (mismatch field line) (length field))
            return (logbitp (1- signal)
                            (parse-integer line :start (length field) :radix 16))
          finally (return t))))

(defun default-signals ()
  "From now on the signals that end a script kill: the second Ctrl-C means it."
  (dolist (signal (list* ext:+sigint+ (mapcar #'first (ending-signals))))
    (ext:catch-signal signal :default)))

(defun interrupt-script ()
  "What Ctrl-C does to the script: the condition of ECL, which it may handle."
  (restart-case (error 'ext:interactive-interrupt)
    (continue () nil)))

(defun handle-signals (batch)
  "Let SIGINT interrupt the main thread, and the others end the program."
  (ext:set-signal-handler
   ext:+sigint+
   (lambda () (call-in-thread #'interrupt-script (batch-main batch))))
  (%signal-main ext:+sigint+)
  (loop for (signal . word) in (ending-signals)
        do (handle-ending batch signal word)))

(defun handle-ending (batch signal word)
  "Let SIGNAL end the program, with WORD on standard error."
  (ext:set-signal-handler
   signal
   (lambda ()
     (complain "~A" word)
     (quit-from-main batch (+ 128 signal))))
  (%signal-main signal))

;;; The debugger

(defun refuse-debugger (batch condition)
  "End the program where ECL would enter the debugger."
  (cond ((typep condition 'ext:interactive-interrupt)
         (complain "interrupted")
         (quit-from-main batch (+ 128 ext:+sigint+)))
        (t
         (ignore-errors
          (finish-output *standard-output*)
          (format *error-output* "~&Unhandled ~S~@[ in thread ~A~]:~%~A~%"
                  (type-of condition)
                  #+threads
                  (unless (eq (current-thread) (batch-main batch))
                    (mp:process-name (current-thread)))
                  #-threads nil
                  condition)
          (finish-output *error-output*))
         (quit-from-main batch 1)))
  ;; Another thread waits here until the main one kills it.
  (loop (sleep 3600)))

(defun disable-debugger (batch)
  "No thread enters the debugger.  The script's own *DEBUGGER-HOOK* comes first;
ecl --debug keeps the debugger."
  (unless si::*command-break-enable*
    (setf ext:*invoke-debugger-hook*
          (lambda (condition hook)
            (declare (ignore hook))
            (let ((own *debugger-hook*))
              (when own
                (let ((*debugger-hook* nil))
                  (funcall own condition own))))
            (refuse-debugger batch condition)))))

;;; The run

(defun prepare (arguments)
  "The BATCH for ARGUMENTS, recording not started, and the script."
  (multiple-value-bind (data output malloc limit live command)
      (parse-arguments arguments)
    (setf ext:*unprocessed-ecl-command-args* command)
    (unless (ignore-errors (loadable-p (first command)))
      (if (eql 0 (search "-" (first command)))
          (fail 2 "unknown option ~A; see: ecl --help" (first command))
          (fail 1 "no such script: ~A" (first command))))
    (cond ((malloc-seen-p) (setf malloc t)) ; mprof run -- ecl --mprof ...
          (malloc (%reexec)))
    (let ((output (and output (absolute-file output))))
      (when output
        (check-output output))
      (values (make-batch :data (absolute-file data) :name data :output output
                          :malloc malloc :limit limit :live live)
              (first command)))))

(defun run-script (arguments)
  "Run a script as ecl --shell does, record what it allocates, print the tables.

ARGUMENTS follow --mprof on ECL's command line: options, the script, and its
arguments.  --mprof-data FILE names the data file (else MPROF_DATA, else
mprof.data), --mprof-output FILE that for the tables (else standard output), or for
a page when it ends in .html;
--malloc records the C heap, too.  --live records which objects are live at the end,
like :LIVE in START; --live=1/512 samples them.  --mprof-limit BYTES (else MPROF_LIMIT)
limits data file and chains, like :LIMIT in START.
Called by ECL's --mprof option, which quits when it returns."
  (multiple-value-bind (batch script)
      (handler-case (prepare arguments)
        (mprof-error (condition) (fail 1 "~A" condition)))
    (disable-debugger batch)
    (handle-signals batch)
    (push (lambda () (finish batch)) si::*exit-hooks*)
    (unwind-protect
         (progn (start-or-fail batch)
                (load script :verbose nil))
      (finish batch))
    (when (batch-failed batch)
      (ext:quit 1))))

(defun start-or-fail (batch)
  "Start recording, or quit with a line on standard error."
  (%warn-at-end)
  (handler-case (start :file (batch-data batch)
                       :malloc (batch-malloc batch)
                       :limit (batch-limit batch)
                       :live (batch-live batch))
    (invalid-argument-error (condition)
      (setf (batch-finished batch) t)
      (fail 2 "~A" condition))
    (mprof-error (condition)
      (setf (batch-finished batch) t)
      (fail 1 "~A" condition))))

(provide "MPROF")
