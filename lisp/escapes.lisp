;;;; escapes.lisp - what the calls of a function leave behind: the objects that they
;;;; allocate and that are still live when they return.

(in-package "MPROF")

(defparameter *most-calls* 250
  "Each watched call begins an epoch of the recording, which has no more than 254.")

(define-c-function %gettid ("gettid" :report) :int)

(defstruct (watch (:constructor make-watch (symbol name most))
                  (:copier nil))
  "Calls of one function that are watched: its name, as a symbol or list and as text, and
how many are wanted."
  symbol name most
  (begun 0)                              ; calls
  (calls 0)                              ; that returned
  (passed 0)                             ; calls after these
  (epoch 0)                              ; for the next call
  (marker nil)                           ; allocated before the present call
  (over nil)                             ; no call is watched any more
  (compiled t)                           ; is the function?
  (thread (current-thread) :read-only t) ; whose calls are watched
  (option (format nil "--thread=~D" (%gettid)) :read-only t) ; selects its chains
  (rows (make-hash-table :test #'equal)))

(defstruct (escape-row (:constructor make-escape-row (type chain)) (:copier nil))
  "Blocks of one type and one chain, and how many calls left some of them behind."
  type chain (bytes 0) (blocks 0) (live-bytes 0) (live-blocks 0) (calls 0))

;;; By type and chain

(defun chain-below (watch functions outer)
  "FUNCTIONS, innermost first, without the last OUTER ones, as far as WATCH's function."
  (let ((chain (butlast functions outer))
        (name (watch-name watch)))
    (if (equal (first (last chain)) name)
        chain
        (append chain (list name)))))

(defun each-row (watch file options function)
  "Call FUNCTION with each row of WATCH that has blocks in the data file FILE, with the
bytes and the number of these.  All chains begin like the shortest one.  It belongs to our
marker, and is left out."
  (labels ((chains (&rest more)
             (handler-case (read-chains file t (list* (watch-option watch)
                                                      (append more options)))
               ;; No chain has such a type.
               (report-error () '())))
           (depth (chain)
             (length (chain-functions chain)))
           (see (type chain outer)
             (let* ((own (if (and (string= type "cons") (= (depth chain) outer)) 1 0))
                    (blocks (- (chain-allocs chain) own)))
               (when (plusp blocks)
                 (funcall function
                          (row-of watch type
                                  (chain-below watch (chain-functions chain) outer))
                          (- (chain-bytes chain) (* 16 own)) blocks)))))
    (let* ((all (chains))
           (outer (and all (reduce #'min all :key #'depth))))
      (when (> (reduce #'+ all :key #'chain-allocs) 1)
        (dolist (bin (profile-bins (profile-from-file file nil nil nil options)))
          (let ((type (or (bin-name bin) (bin-type bin))))
            (dolist (chain (chains (format nil "--type=~A" type)))
              (see type chain outer))))))))

(defun row-of (watch type chain)
  "The row of WATCH for TYPE and CHAIN."
  (let ((key (cons type chain))
        (rows (watch-rows watch)))
    (or (gethash key rows)
        (setf (gethash key rows) (make-escape-row type chain)))))

(defun add-live-rows (watch from until)
  "Add the live blocks of the epochs FROM to UNTIL, a call, to the rows of WATCH."
  (let ((seen '()))
    (call-with-temporary-file
     (lambda (file)
       (%save-alive file from until)
       (each-row watch file '("--alive")
                 (lambda (row bytes blocks)
                   (incf (escape-row-live-bytes row) bytes)
                   (incf (escape-row-live-blocks row) blocks)
                   (pushnew row seen)))))
    (dolist (row seen)
      (incf (escape-row-calls row)))))

(defun add-allocated-rows (watch scope)
  "Add all blocks of SCOPE, a call, to the rows of WATCH."
  (call-with-temporary-file
   (lambda (file)
     (%scope-save scope file)
     (each-row watch file '()
               (lambda (row bytes blocks)
                 (incf (escape-row-bytes row) bytes)
                 (incf (escape-row-blocks row) blocks))))))

;;; Calls

(defun see-call (watch scope)
  "A call of WATCH's function, whose allocations are in SCOPE, has returned: count what is
live of these."
  (ext:gc t)
  (let ((until (%snapshot)))
    (add-live-rows watch (watch-epoch watch) until)
    (add-allocated-rows watch scope)
    (setf (watch-epoch watch) until))
  (incf (watch-calls watch)))

(defun define-function (name function old)
  "Let NAME be the name of FUNCTION in place of OLD, even in a locked package.  A
definition that the program has made meanwhile stays."
  (when (and (fboundp name) (eq (fdefinition name) old))
    (let ((si::*ignore-package-locks* t))
      (setf (fdefinition name) function))))

(defun put-wrapper (watch original wrapper)
  "Let calls of WATCH's function lead to WRAPPER.  A generic function stays one."
  (if (typep original 'generic-function)
      (clos:set-funcallable-instance-function original wrapper)
      (define-function (watch-symbol watch) wrapper original)))

(defun remove-wrapper (watch original wrapper)
  "Let them lead to ORIGINAL, as before PUT-WRAPPER."
  (if (typep original 'generic-function)
      (clos::set-generic-function-dispatch original)
      (define-function (watch-symbol watch) original wrapper)))

(defun watched-p (watch)
  "True in a call that is to be watched, with the function that is called."
  (and (not (watch-over watch))
       (eq (current-thread) (watch-thread watch))
       (< (watch-begun watch) (watch-most watch))))

(defun call-apart (function arguments)
  "Call FUNCTION with ARGUMENTS.  Later calls of our caller, such as a collection, find
nothing on the stack that this call has left there: see CALL-RECORDED."
  (clear-frame)
  (multiple-value-prog1 (apply function arguments)
    (clear-frame)))

(defmacro no-value ()
  "The last cleanup form of UNWIND-PROTECT: if the protected form has no values, ECL returns
the first value of this form."
  '(ffi:c-inline () () :void "ecl_process_env()->values[0] = ECL_NIL;" :one-liner nil))

(defun make-watched (watch original)
  "A function that calls ORIGINAL, and watches outermost calls in WATCH's thread, which is
silent outside of them, until there have been enough.  In a call, only a marker is
recorded apart from allocations of ORIGINAL."
  (let ((silence (resolve '%mprof-silence))
        (begin (list 1))
        (end (list 0))
        (self nil))
    (labels ((silence (how)
               (mp:without-interrupts
                 (si:call-cfun silence :void '(:int) how)))
             (watched (arguments scope finish)
               (let ((returned nil))
                 (%scope-begin scope)
                 (unwind-protect
                      (progn
                        (silence end)
                        (setf (watch-marker watch) (cons nil nil))
                        (multiple-value-prog1 (call-apart original arguments)
                          ;; The call counts completely, or not at all.
                          (mp:without-interrupts
                            (silence begin)
                            (setf returned t)
                            (funcall finish)
                            (see-call watch scope))))
                   (unless returned
                     (silence begin)
                     (funcall finish)
                     (setf (watch-epoch watch) (%snapshot)))))))
      (setf self
            (lambda (&rest arguments)
              (if (not (watched-p watch))
                  (call-passed watch original self arguments)
                  (let ((scope (%make-scope)))
                    (incf (watch-begun watch))
                    ;; Calls within this one are not watched.
                    (remove-wrapper watch original self)
                    (clear-stack)
                    (unwind-protect (watched arguments scope (scope-ender scope))
                      (%scope-free scope)
                      (put-wrapper watch original self)
                      (no-value)))))))))

(defun call-passed (watch original wrapper arguments)
  "Call ORIGINAL, in place of which WRAPPER was called, with ARGUMENTS."
  (when (eq (current-thread) (watch-thread watch))
    (incf (watch-passed watch)))
  (cond ((not (typep original 'generic-function))
         (apply original arguments))
        (t
         ;; It is called by its own dispatch.
         (remove-wrapper watch original wrapper)
         (unwind-protect (apply original arguments)
           (unless (watch-over watch)
             (put-wrapper watch original wrapper))))))

(defun call-with-watch (watch during)
  "Call DURING while WATCH's function is watched."
  (let* ((original (fdefinition (watch-symbol watch)))
         (wrapper (make-watched watch original)))
    (setf (watch-compiled watch) (compiled-p original))
    (unwind-protect
         (progn
           (put-wrapper watch original wrapper)
           (funcall during))
      (setf (watch-over watch) t)
      (remove-wrapper watch original wrapper))))

(defun compiled-p (function)
  "True unless FUNCTION is interpreted."
  (or (typep function 'generic-function)
      (and (compiled-function-p function)
           (null (ignore-errors (nth-value 1 (si:bc-split function)))))))

;;; The report

(defun sorted-escapes (watch)
  "The rows of WATCH, those that were allocated most first."
  (sort (loop for row being the hash-values of (watch-rows watch) collect row)
        (lambda (a b)
          (or (> (escape-row-bytes a) (escape-row-bytes b))
              (and (= (escape-row-bytes a) (escape-row-bytes b))
                   (string< (princ-to-string (escape-row-chain a))
                            (princ-to-string (escape-row-chain b))))))))

(defun escape-row-name (row)
  "The type of ROW and its chain, as text.  A long chain is shortened."
  (let* ((chain (escape-row-chain row))
         (end (last chain 2)))
    (format nil "~A by ~{~A~^ < ~}" (escape-row-type row)
            (if (nthcdr 5 chain)
                (append (subseq chain 0 2) (cons "..." end))
                chain))))

(defun sum-of (key rows)
  "The sum of KEY of all ROWS."
  (reduce #'+ rows :key key))

(defun write-escape-row (stream rows calls name)
  "Write a line with the sums of ROWS; CALLS: how many calls left some behind, or NIL."
  (format stream "~14:D ~12:D ~14:D ~12:D ~6@A  ~A~%"
          (sum-of #'escape-row-bytes rows) (sum-of #'escape-row-blocks rows)
          (sum-of #'escape-row-live-bytes rows)
          (sum-of #'escape-row-live-blocks rows)
          (or calls "") name))

(defun write-escapes (watch stream limit)
  "Write to STREAM what the calls of WATCH allocated and left behind, LIMIT rows."
  (with-standard-printing ()
    (fresh-line stream)
    (cond ((plusp (watch-calls watch))
           (write-escape-table watch stream limit))
          ((plusp (watch-begun watch))
           (format stream "No call of ~A returned.~%" (watch-name watch)))
          (t
           (format stream "No call of ~A was seen in this thread.  Calls within one ~
                           compiled file do not~%use the name: declare it NOTINLINE there, ~
                           or load the source.~%"
                   (watch-name watch)))))
  (finish-output stream))

(defun write-escape-table (watch stream limit)
  "Write the table of WATCH, LIMIT rows, and sentences about it."
  (let* ((rows (sorted-escapes watch))
         (rest (and (plusp limit) (nthcdr limit rows))))
    (format stream "~A: ~:D call~:P, and a collection after each~2%~
                    ~14@A ~12@A ~14@A~%~14@A ~12@A ~14@A ~12@A ~6@A  ~A~%"
            (watch-name watch) (watch-calls watch) "allocated" "" "live at return"
            "bytes" "blocks" "bytes" "blocks" "calls" "type, and who allocated it")
    (dolist (row (ldiff rows rest))
      (write-escape-row stream (list row) (escape-row-calls row)
                        (escape-row-name row)))
    (when rest
      (write-escape-row stream rest nil
                        (format nil "~:D other row~:P (:limit-rows 0 shows all)"
                                (length rest))))
    (write-escape-row stream rows nil "in all")
    (terpri stream)
    (write-verdict stream rows)
    (when (> (watch-begun watch) (watch-calls watch))
      (format stream "~:D call~:P more did not return, and ~:*~[~;is~:;are~] in no row.~%"
              (- (watch-begun watch) (watch-calls watch))))
    (when (plusp (watch-passed watch))
      (format stream "~:D further call~:P ~:*~[~;was~:;were~] not watched (:calls).~%"
              (watch-passed watch)))
    (unless (watch-compiled watch)
      (format stream "The function is interpreted, or traced, which allocates, too.  To ~
                      see only its own~%allocations, compile it, or untrace it.~%"))))

(defun write-verdict (stream rows)
  "Write to STREAM what the numbers in ROWS mean."
  (let* ((dead (remove 0 rows :key #'escape-row-live-blocks :test #'/=))
         (bytes (sum-of #'escape-row-bytes dead)))
    (cond ((null rows)
           (format stream "The calls allocated nothing.~%"))
          (dead
           (format stream "~:D of these bytes (~A %), in ~:D block~:P, are in rows with ~
                           0 calls: none of these~%blocks was live after a call.  They ~
                           may have dynamic extent, or be one buffer~%that is used ~
                           again.~%"
                   bytes (percent bytes (sum-of #'escape-row-bytes rows))
                   (sum-of #'escape-row-blocks dead)))
          (t
           (format stream "Some blocks of each row were live after a call.~%")))
    (format stream "This is true of these calls, not of all that are possible.  Values ~
                    that a call~%returned count as live.~%")))

(defun escape-list (watch)
  "The rows of WATCH as lists."
  (loop for row in (sorted-escapes watch)
        collect (list (escape-row-type row) (escape-row-chain row)
                      (escape-row-bytes row) (escape-row-blocks row)
                      (escape-row-live-bytes row) (escape-row-live-blocks row)
                      (escape-row-calls row))))

(defun check-watched (name calls during arguments limit-rows)
  "Signal an error unless these are arguments of ESCAPES."
  (unless (and (or (symbolp name) (and (proper-list-p name) (cdr name)))
               (ignore-errors (fboundp name))
               (not (and (symbolp name)
                         (or (macro-function name) (special-operator-p name)))))
    (invalid-argument "~S is not the name of a function" name))
  (unless (typep calls `(integer 1 ,*most-calls*))
    (invalid-argument "~S is no number of calls from 1 to ~D" calls *most-calls*))
  (unless (proper-list-p arguments)
    (invalid-argument "~S is not a list of arguments" arguments))
  (check-rows limit-rows)
  (when during
    (check-function during)
    (when arguments
      (invalid-argument "with :during, the program calls ~S with its own arguments" name)))
  (when (running-p)
    (error 'already-running-error)))

(defun escapes (name &key (calls 10) arguments during (stream *standard-output*)
                       (limit-rows 20))
  "Watch CALLS calls of the function NAME, with a garbage collection after each, and print
how much of what they allocated is still live then, by type and chain.  For example,
\"0 of 12,000 conses\" are candidates for dynamic extent or for a buffer.

    (mprof:escapes 'render :arguments '(10) :calls 100)      calls RENDER itself
    (mprof:escapes 'render :during (lambda () (run-tests)))  watches the program's calls

NAME        a symbol or a list such as (SETF FOO)
CALLS       how many calls, 250 at most; with DURING fewer are seen if the program makes
            fewer
ARGUMENTS   a list: call the function with these, if DURING is NIL
DURING      a function without arguments, which is called once.  Calls of NAME in this
            thread are watched; calls within such a call are a part of it
STREAM      a stream, or T for *STANDARD-OUTPUT*; with NIL nothing is printed.  Then the
            values are all rows, how many calls returned, and how many began.  A row is a
            list: type, chain (a list of names), bytes and blocks allocated, bytes and
            blocks live at a return, and how many calls left some behind
LIMIT-ROWS  print no more than so many rows; 0 for all

A block is an object or storage that it owns.  Only calls that return count, and only
allocations of their thread.  Compile the function first: the interpreter allocates, too.
Calls that compiled code makes directly, within one file, are not seen; nor are calls
after the program redefines NAME.  Meanwhile NAME has another function.  Like
WITH-PROFILING, this forgets an earlier recording.  Signals an ALREADY-RUNNING-ERROR while
a recording runs."
  (check-stream stream)
  (check-watched name calls during arguments limit-rows)
  (let* ((text (with-standard-printing () (printed-name name)))
         (watch (make-watch name text calls)))
    (watch-recording watch (or during
                               (lambda ()
                                 (loop repeat calls
                                       do (apply (fdefinition name) arguments)))))
    (cond (stream
           (write-escapes watch (if (eq stream t) *standard-output* stream) limit-rows)
           (values))
          (t
           (values (escape-list watch) (watch-calls watch) (watch-begun watch))))))

(defun watch-recording (watch run)
  "Call RUN while its calls of WATCH's function are recorded and watched."
  (%reset)
  (%choose-heaps nil)
  (%choose-live t nil nil)
  (begin-to-record nil)
  (unwind-protect
       (silently
         (setf (watch-epoch watch) (%snapshot))
         (call-with-watch watch run))
    (end-to-record)))
