;;;; live.lisp - what is still alive, of what was allocated between two moments.
;;;;
;;;; The hunt for what makes an image grow:
;;;;
;;;;     (mprof:start :live t)
;;;;     ... until the program has warmed up ...
;;;;     (defvar *before* (mprof:snapshot))
;;;;     ... code that should leave nothing behind ...
;;;;     (mprof:report-live :since *before*)

(in-package "MPROF")

(defstruct (snapshot (:constructor %make-snapshot (number time))
                     (:copier nil))
  "A moment of a recording with live objects."
  (number 0 :read-only t)
  (time 0 :read-only t))

(defmethod print-object ((snapshot snapshot) stream)
  (print-unreadable-object (snapshot stream :type t)
    (format stream "~D" (snapshot-number snapshot))))

(defun snapshot ()
  "Collect garbage, and separate all later allocations from the earlier ones.  Returns a
SNAPSHOT for LIVE-PROFILE and REPORT-LIVE.  One recording has at most 254, and must
have been started with :LIVE."
  (ext:gc t)
  (%make-snapshot (%snapshot) (get-universal-time)))

(defun epoch (moment default)
  "The number of MOMENT, a SNAPSHOT; for NIL it is DEFAULT."
  (typecase moment
    (null default)
    (snapshot (snapshot-number moment))
    (t (invalid-argument "~S is not a snapshot" moment))))

(defun call-with-live-data (function since until gc &optional look)
  "Call FUNCTION with the name of a data file with the live objects of LIVE-PROFILE,
and with what keeps them if LOOK is true.  Delete the file afterwards."
  (let ((from (epoch since 0))
        (to (epoch until #xffffffff)))
    (unless (<= from to)
      (invalid-argument "~S is not before ~S" since until))
    (when (and gc (running-p))
      (ext:gc t))
    (silently
      (when (and look (running-p))
        (%look from to))
      (call-with-temporary-file (lambda (file)
                                  (%save-alive file from to)
                                  (when (and look (not (running-p)))
                                    ;; The data are of the moment of STOP.
                                    (invalid-argument
                                     "ask for keepers and equal contents of now ~
                                      before MPROF:STOP;~%MPROF:REPORT shows the ~
                                      tables as they were at the end"))
                                  (funcall function file))))))

(defun live-profile (&key since until (gc t) all-frames chains)
  "Return a PROFILE of the live objects.  Its bytes and allocations are of objects and
their storage that were allocated since the snapshot SINCE, or since the recording
began, and before the snapshot UNTIL, or until now, and that the collector marked
when it collected last: now, unless GC is NIL.  ALL-FRAMES and CHAINS as in
LOAD-PROFILE.  A LIVENESS-UNKNOWN-ERROR when the recording was started without
:LIVE."
  (call-with-live-data
   (lambda (file)
     (profile-from-file file nil all-frames chains '("--alive")))
   since until gc))

(defun report-live (&key since until (gc t) (tables '(:bins :alive))
                      verbosity (stream *standard-output*) all-frames
                      (format :text) focus ignore only type limit-rows depth)
  "Print tables of what is alive: SINCE, UNTIL and GC as in LIVE-PROFILE, the others as
in REPORT.  After STOP, the tables :KEPT-BY and :EQUAL are an INVALID-ARGUMENT-ERROR:
REPORT has them."
  (check-stream stream)
  (write-report
   (call-with-live-data
    (lambda (file)
      (report-text file :format format :tables tables :verbosity verbosity
                        :all-frames all-frames
                        :part (part-arguments focus ignore only type
                                              limit-rows depth)))
    since until gc (and (needs-look-p tables) t))
   stream format))
