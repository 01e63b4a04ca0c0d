;;;; package.lisp - the package MPROF and what it exports.

(defpackage "MPROF"
  (:use "COMMON-LISP")
  (:documentation
   "Records every allocation of a Lisp program with the chain of its callers.

    (require :mprof)
    (mprof:with-profiling () (my-program))

runs the body and prints a summary and tables: which types were allocated, by which
functions, and for which callers.  START, STOP and REPORT do the same by hand;
CURRENT-PROFILE and LOAD-PROFILE return the numbers as objects.  Everything that
goes wrong is signalled as an MPROF-ERROR.")
  ;; Recording
  (:export "WITH-PROFILING" "CALL-WITH-PROFILING"
           "START" "STOP" "RESET" "SAVE" "MARK" "RUNNING-P" "STATUS"
           "*RECORD-DEBUGGER*")
  ;; Live objects
  (:export "SNAPSHOT" "LIVE-PROFILE" "REPORT-LIVE" "ESCAPES")
  ;; Without a recording
  (:export "BYTES-ALLOCATED" "ALLOCATIONS" "HEAP-CURRENT" "HEAP-PEAK"
           "CENSUS" "EQUAL-CONTENTS" "KEPT-BY" "WHO-KEEPS")
  ;; Limits
  (:export "WITH-ALLOCATION-LIMIT" "CALL-WITH-ALLOCATION-LIMIT"
           "ALLOCATION-LIMIT-EXCEEDED"
           "ALLOCATION-LIMIT-EXCEEDED-BYTES" "ALLOCATION-LIMIT-EXCEEDED-ALLOCS"
           "ALLOCATION-LIMIT-EXCEEDED-BYTES-LIMIT"
           "ALLOCATION-LIMIT-EXCEEDED-ALLOCS-LIMIT"
           "ALLOCATION-LIMIT-EXCEEDED-PROFILE")
  ;; Tables
  (:export "REPORT" "DIFF")
  ;; Numbers
  (:export "PROFILE" "LOAD-PROFILE" "CURRENT-PROFILE"
           "PROFILE-FILE" "PROFILE-PROGRAM" "PROFILE-COMMAND"
           "PROFILE-RUNTIME" "PROFILE-STATE"
           "PROFILE-START-TIME" "PROFILE-DURATION"
           "PROFILE-ALLOCS" "PROFILE-BYTES"
           "PROFILE-OBJECTS" "PROFILE-OBJECT-BYTES"
           "PROFILE-STORAGE" "PROFILE-STORAGE-BYTES"
           "PROFILE-FOLDED" "PROFILE-CUT" "PROFILE-UNPLACED"
           "PROFILE-SAMPLING" "PROFILE-FINDINGS"
           "PROFILE-THREADS" "PROFILE-BINS" "PROFILE-FUNCTIONS"
           "PROFILE-CHAINS" "FIND-FUNCTION"
           "PROFILE-CHAIN" "CHAIN-BYTES" "CHAIN-ALLOCS" "CHAIN-FUNCTIONS"
           "PROFILE-FUNCTION" "FUNCTION-NAME" "FUNCTION-KIND" "FUNCTION-CYCLE"
           "FUNCTION-SELF-ALLOCS" "FUNCTION-SELF-BYTES"
           "FUNCTION-TOTAL-ALLOCS" "FUNCTION-TOTAL-BYTES"
           "FUNCTION-CALLERS" "FUNCTION-CALLEES"
           "PROFILE-ARC" "ARC-CALLER" "ARC-CALLEE" "ARC-ALLOCS" "ARC-BYTES"
           "PROFILE-BIN" "BIN-CLASS" "BIN-TYPE" "BIN-NAME"
           "BIN-OBJECTS" "BIN-OBJECT-BYTES"
           "BIN-STORAGE" "BIN-STORAGE-BYTES"
           "PROFILE-THREAD" "THREAD-NAME" "THREAD-ID" "THREAD-ENDED-P")
  ;; Conditions
  (:export "MPROF-ERROR" "LIBRARY-ERROR" "LIBRARY-ERROR-PATHNAME"
           "UNPATCHED-RUNTIME-ERROR" "MALLOC-UNSEEN-ERROR"
           "LIVENESS-UNKNOWN-ERROR" "SAMPLED-ERROR"
           "ALREADY-RUNNING-ERROR"
           "NOTHING-RECORDED-ERROR" "DATA-FILE-ERROR"
           "DATA-FILE-ERROR-PATHNAME" "DATA-FILE-ERROR-REASON"
           "REPORT-ERROR" "MONITOR-ERROR" "INVALID-ARGUMENT-ERROR")
  ;; ecl --mprof
  (:export "RUN-SCRIPT"))
