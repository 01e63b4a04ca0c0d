;;;; limit.lisp - a limit on what a form allocates, for tests.

(in-package "MPROF")

(defun report-exceeded-limit (condition stream)
  "Print CONDITION, an ALLOCATION-LIMIT-EXCEEDED: a sentence, and the chains with most
bytes."
  (let* ((chains (profile-chains (allocation-limit-exceeded-profile condition)))
         (shown (subseq chains 0 (min 3 (length chains)))))
    (format stream "~:D byte~:P in ~:D allocation~:P, where the limit is~
                    ~@[ ~:D byte~:P~]~:[~; in~]~@[ ~:D allocation~:P~]"
            (allocation-limit-exceeded-bytes condition)
            (allocation-limit-exceeded-allocs condition)
            (allocation-limit-exceeded-bytes-limit condition)
            (and (allocation-limit-exceeded-bytes-limit condition)
                 (allocation-limit-exceeded-allocs-limit condition))
            (allocation-limit-exceeded-allocs-limit condition))
    (format stream "~:[.~;:~]" shown)
    (dolist (chain shown)
      (multiple-value-bind (names more-p) (innermost-functions chain)
        (format stream "~%  ~:D byte~:P in ~:D allocation~:P~{~%    ~A~}~
                        ~:[~;~%    ...~]"
                (chain-bytes chain) (chain-allocs chain) names more-p)))
    (when (nthcdr 3 chains)
      (format stream "~%  and ~:D other chain~:P" (length (nthcdr 3 chains))))))

(defun check-bound (value name)
  "VALUE of the option NAME must be a number that is not negative."
  (unless (typep value '(integer 0))
    (invalid-argument "~S is no value for :~A" value name)))

(defun call-in-scope (function scope)
  "Call FUNCTION without arguments and record its allocations in SCOPE.  Return its
values as a list.  SCOPE ends when FUNCTION returns."
  (let ((end (scope-ender scope)))
    ;; Between these two nothing may allocate but FUNCTION.
    (%scope-begin scope)
    (multiple-value-list
     (multiple-value-prog1 (call-recorded function)
       (funcall end)))))

(defun scope-profile (scope)
  "The PROFILE of what SCOPE has, with its chains."
  (call-with-temporary-file
   (lambda (file)
     (%scope-save scope file)
     (let ((profile (load-profile file :chains t)))
       (setf (slot-value profile 'file) nil)
       profile))))

(defun measure-in-recording (function warm-up within-p)
  "Call FUNCTION WARM-UP times, and then once counted.  Its values, a list; and the
bytes and allocations, and a PROFILE of these unless WITHIN-P, called with them, is
true.  Recording is on."
  (loop repeat warm-up do (funcall function))
  (let ((scope (%make-scope)))
    (unwind-protect
         (let ((values (call-in-scope function scope)))
           (multiple-value-bind (bytes allocs) (%scope-counted scope)
             (values values bytes allocs
                     (unless (funcall within-p bytes allocs)
                       (scope-profile scope)))))
      (%scope-free scope))))

(defun measure (function warm-up within-p)
  "The same; when nothing is recorded, it is for as long as that takes."
  (let ((place nil))
    (unwind-protect
         (progn
           (mp:without-interrupts
             (setf place (begin-recording nil t nil nil)))
           (measure-in-recording function warm-up within-p))
      (when (member place '(:began :joined))
        (end-recording)))))

(defun call-with-allocation-limit (function &key bytes allocs (warm-up 0))
  "Call FUNCTION without arguments as the body of WITH-ALLOCATION-LIMIT."
  (when bytes (check-bound bytes "bytes"))
  (when allocs (check-bound allocs "allocs"))
  (check-bound warm-up "warm-up")
  (check-function function)
  (multiple-value-bind (values bytes-allocated allocs-made profile)
      (measure function warm-up
               (lambda (bytes-allocated allocs-made)
                 (and (or (null bytes) (<= bytes-allocated bytes))
                      (or (null allocs) (<= allocs-made allocs)))))
    (when profile
      (restart-case (error 'allocation-limit-exceeded
                           :bytes bytes-allocated :allocs allocs-made
                           :bytes-limit bytes :allocs-limit allocs
                           :profile profile)
        (continue ()
          :report "Return the values of the body nevertheless.")))
    (values-list values)))

(defmacro with-allocation-limit ((&key bytes allocs (warm-up 0)) &body body)
  "Run BODY, and return its values, if it allocates no more than the limits; else
signal an ALLOCATION-LIMIT-EXCEEDED error, whose restart CONTINUE returns them.

:BYTES    the most bytes of the Lisp heap
:ALLOCS   the most blocks: objects, and the storage that they own
:WARM-UP  how often BODY is run before that, without a limit, so that caches are
          filled, generic functions dispatch and what is made once is there;
          default 0

BODY is run WARM-UP + 1 times, never once more.  This thread's allocations in the
last run are counted exactly, whatever other threads do.  That run is recorded, so
that the condition has the PROFILE of it, and nothing else, with its chains.  A
recording that is on goes on, and counts what it would have counted; when none is,
one is made in memory for as long as the form runs, and what was recorded before is
forgotten, as by WITH-PROFILING.  In a recording of a sample, START's :LIVE 1/512,
nothing is known exactly: that is a SAMPLED-ERROR.

Compile the functions that BODY calls: an interpreted function allocates for each
call, 32 bytes for one with an argument.

A BODY that is left by a throw or an error is not judged.  Such forms may be
nested.  The allocations of the inner form itself count in the outer one."
  ;; The tables know this name and charge the body to its caller.
  `(flet ((mprof-body () ,@body))
     (call-with-allocation-limit #'mprof-body :bytes ,bytes :allocs ,allocs
                                              :warm-up ,warm-up)))
