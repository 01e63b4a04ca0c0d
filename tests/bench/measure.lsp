;;;; measure.lsp - run the loops once and print a line for each: name, time.
;;;;
;;;; Usage: ecl --norc --shell measure.lsp LOOPS.fas LABEL, and with LABEL
;;;; "profiled" the environment that oracle/record.lsp wants.

(destructuring-bind (fas label) (rest ext:*unprocessed-ecl-command-args*)
  (load fas :verbose nil)
  (let ((loops (symbol-value (find-symbol "*LOOPS*" "BENCH")))
        (measure (find-symbol "MEASURE" "BENCH"))
        (times '()))
    (when (string= label "profiled")
      (load (merge-pathnames "../oracle/record.lsp" *load-truename*)
            :verbose nil)
      (funcall (find-symbol "START" "RECORD")))
    (loop for (name count) in loops
          do (push (funcall measure name count) times))
    (when (string= label "profiled")
      (funcall (find-symbol "STOP" "RECORD")))
    (loop for (name) in loops
          for time in (reverse times)
          do (format t "~a ~(~a~) ~d~%" label name time))))
