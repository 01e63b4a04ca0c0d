;;; slime.el --- what SLIME's browser shows of a recording

;;; Commentary:
;; Connects to the server whose port the file `port' tells, and calls what a user
;; would, of an unmodified slime-sprof.el.  What mprof says of the same recording is
;; in the file `data', for the command that the variable MPROF names.  Complains of
;; what is wrong; writes what functions allocated themselves to the file `itself'.

;;; Code:
(require 'slime)
(require 'cl-lib)
(slime-setup '(slime-sprof))
(set-frame-width nil 80)

(defvar browsed-told nil "What was shown in the echo area, the last first.")
(advice-add 'message :before
            (lambda (text &rest arguments)
              (when text
                (push (apply #'format-message text arguments) browsed-told))))

(defun browsed-complain (text &rest arguments)
  "Say what is wrong, and give up."
  (princ (concat (apply #'format text arguments) "\n"))
  (princ (format "told: %S\n" (reverse browsed-told)))
  (kill-emacs 1))

(defmacro browsed-await (what form)
  "Wait until FORM is true, a minute at most; WHAT does it say?"
  `(let ((end (+ (float-time) 60)))
     (while (not ,form)
       (when (< end (float-time))
         (browsed-complain "waited for %s" ,what))
       (accept-process-output nil 0.01))))

(defun browsed-answers ()
  "Wait until Lisp has answered all that it was asked for."
  (browsed-await "answers" (null (slime-rex-continuations))))

;; What asks, and waits, would wait for ever.
(add-hook 'sldb-hook
          (lambda ()
            (browsed-complain "the debugger: %s" (buffer-string))))

(defun browsed-wants (what wanted found)
  "Complain unless FOUND is what is WANTED; WHAT does it say?"
  (declare (indent 1))
  (unless (equal wanted found)
    (browsed-complain "%s: wanted\n%s\nfound\n%s" what wanted found)))

;;; What mprof says

(defvar browsed-profile nil "What `mprof --sexp' printed.")
(defvar browsed-all nil "Its bytes.")
(defvar browsed-functions nil "Its functions, later in the order of the rows.")

(defun browsed-bytes (counts)
  (cl-loop for (_ bytes) on counts by #'cddr sum bytes))

(defun browsed-allocs (counts)
  (cl-loop for (allocs _) on counts by #'cddr sum allocs))

(defun browsed-percent (bytes)
  (format "%6.2f" (/ (* 100.0 bytes) browsed-all)))

(defun browsed-read-profile ()
  "Save what is recorded, and read it as the command tells it."
  (slime-eval `(cl:progn (mprof:save ,(expand-file-name "data")) nil))
  (setq browsed-profile (with-temp-buffer
                          (call-process (getenv "MPROF") nil t nil "--sexp" "data")
                          (goto-char (point-min))
                          (read (current-buffer)))
        browsed-all (plist-get browsed-profile :bytes)
        browsed-functions (plist-get browsed-profile :functions)))

(defun browsed-named (name)
  (or (cl-find name browsed-functions :test #'equal
               :key (lambda (function) (plist-get function :name)))
      (browsed-complain "mprof has no %s" name)))

(defun browsed-name-of (id)
  (plist-get (cl-find id browsed-functions :key (lambda (f) (plist-get f :id))) :name))

(defun browsed-groups (number)
  "NUMBER with commas."
  (let ((text (number-to-string number)))
    (while (string-match "\\`\\([0-9]+\\)\\([0-9][0-9][0-9]\\)\\(,\\|\\'\\)" text)
      (setq text (replace-match "\\1,\\2\\3" nil nil text)))
    text))

(defun browsed-line (name bytes)
  "The line of NAME below a function, with BYTES where there is room."
  (let* ((number (browsed-groups bytes))
         (unit (if (= bytes 1) " byte" " bytes"))
         (room (- 59 (length name) (length number)))
         (text (cond ((< (length unit) room) (concat number unit))
                     ((< 0 room) number)
                     (t ""))))
    (format "       %-59s %s"
            (concat (substring name 0 (min 59 (length name)))
                    (make-string (max 0 (- 59 (length name) (length text))) ? )
                    text)
            (browsed-percent bytes))))

(defun browsed-below (name)
  "The lines that there must be below the function NAME, in any order."
  (let* ((function (browsed-named name))
         (id (plist-get function :id))
         (self (browsed-bytes (plist-get function :self)))
         (allocs (browsed-allocs (plist-get function :self))))
    (sort (append
           (when (< 0 self)
             (list (browsed-line (format "itself, %s allocation%s"
                                         (browsed-groups allocs)
                                         (if (= 1 allocs) "" "s"))
                                 self)))
           (cl-loop for (caller callee . counts) in (plist-get browsed-profile :arcs)
                    for bytes = (browsed-bytes counts)
                    when (eql caller id)
                    collect (browsed-line (browsed-name-of callee) bytes)
                    when (eql callee id)
                    collect (browsed-line (browsed-name-of caller) bytes)))
          #'string<)))

;;; What the browser shows

(defun browsed-browser ()
  (slime-buffer-name :sprof))

(defun browsed-shown ()
  "The lines of the browser."
  (with-current-buffer (browsed-browser)
    (split-string (buffer-string) "\n" t)))

(defun browsed-report ()
  "Ask for the list of functions, and be in it."
  (slime-sprof-report)
  (browsed-answers)
  (set-buffer (browsed-browser)))

(defun browsed-rows ()
  "Number, name, and the three numbers, of each line that is no function's below."
  (cl-loop for line in (cdr (browsed-shown))
           collect (list (string-to-number (substring line 0 5))
                         (string-trim (substring line 5 59))
                         (string-trim (substring line 59)))))

(defun browsed-go-to (name)
  "Go to the row of the function NAME."
  (goto-char (point-min))
  (unless (re-search-forward (format "^[0-9]+ +%s  " (regexp-quote name)) nil t)
    (browsed-complain "no row of %s in\n%s" name (buffer-string)))
  (forward-line 0))

(defun browsed-toggle ()
  (slime-sprof-browser-toggle)
  (browsed-answers))

(defun browsed-expanded ()
  "The lines below the row at point."
  (browsed-toggle)
  (prog1
      (save-excursion
        (cl-loop while (and (zerop (forward-line 1)) (not (eobp))
                            (null (get-text-property (point) 'profile-index)))
                 collect (buffer-substring-no-properties (point) (line-end-position))))
    (browsed-toggle)))

(defun browsed-row-is (row function sum)
  "Is ROW that of FUNCTION, to which all have SUM bytes?"
  (let ((name (plist-get function :name)))
    (equal (cdr row)
           (list (substring name 0 (min 54 (length name)))
                 (string-trim
                  (mapconcat #'browsed-percent
                             (list (browsed-bytes (plist-get function :self))
                                   (browsed-bytes (plist-get function :total))
                                   sum)
                             " "))))))

(defun browsed-numbers-are-those-of-mprof ()
  "All rows.  Those of as many bytes have no order."
  (let ((sum 0) (number 0) (before browsed-all) (sorted '())
        (rows (browsed-rows)))
    (browsed-wants "the first row"
      (list 0 (format "All: %s bytes in %s allocations"
                      (browsed-groups browsed-all)
                      (browsed-groups (plist-get browsed-profile :allocs)))
            "100.00")
      (car rows))
    (dolist (row (cdr rows))
      (let* ((found (or (cl-find-if
                         (lambda (function)
                           (browsed-row-is
                            row function
                            (+ sum (browsed-bytes (plist-get function :self)))))
                         browsed-functions)
                        (browsed-complain "mprof has no %S" row)))
             (total (browsed-bytes (plist-get found :total))))
        (browsed-wants "the number" (cl-incf number) (car row))
        (unless (<= total before)
          (browsed-complain "%S has more than the row before it" row))
        (setq sum (+ sum (browsed-bytes (plist-get found :self)))
              before total
              browsed-functions (delq found browsed-functions))
        (push found sorted)))
    (browsed-wants "functions without a row" nil browsed-functions)
    (browsed-wants "the sum" browsed-all sum)
    (setq browsed-functions (nreverse sorted))))

(defun browsed-itself (name lines)
  "What the function NAME allocated itself, as one of LINES says: a list, or nil."
  (cl-loop for line in lines
           when (string-match " itself, \\([0-9,]+\\) alloc[a-z]* +\\([0-9,]+\\)" line)
           return (cl-flet ((number (group)
                                    (replace-regexp-in-string "," ""
                                                              (match-string group line))))
                    (list (format "%s %s %s\n" (number 2) (number 1) name)))))

(defun browsed-callers-and-callees ()
  "Below each function: those of the same profile."
  (let ((before (browsed-shown)) (itself '()))
    (cl-loop
     for function in browsed-functions
     for row from 1
     for name = (plist-get function :name)
     do (goto-char (text-property-any (point-min) (point-max) 'profile-index row))
     (let ((lines (browsed-expanded)))
       (browsed-wants (format "below %s" name)
         (browsed-below name)
         (sort (cl-remove-if (lambda (line)
                               (member (string-trim line) '("Callers" "Calls")))
                             lines)
               #'string<))
       (setq itself (append (browsed-itself name lines) itself))))
    (browsed-wants "all closed again" before (browsed-shown))
    (with-temp-file "itself"
      (mapc #'insert itself))))

(defun browsed-from-a-callee-to-its-row ()
  (browsed-go-to "GARDEN::PAIRS")
  (browsed-toggle)
  (unless (re-search-forward "^       (FLET GARDEN::PAIR " nil t)
    (browsed-complain "no callee of PAIRS: %s" (buffer-string)))
  (slime-sprof-browser-go-to)
  (browsed-wants "the row of a callee" t
                 (looking-at "[0-9]+ +(FLET GARDEN::PAIR :IN GARDEN::PAIRS)"))
  (browsed-go-to "GARDEN::PAIRS")
  (browsed-toggle))

(defun browsed-source-of (name)
  "The line where the source of the function NAME begins, or what was told."
  (save-current-buffer
    (browsed-go-to name)
    (setq browsed-told nil)
    (save-window-excursion
      (slime-sprof-browser-view-source)
      (browsed-answers)
      (cl-loop for buffer in (buffer-list)
               when (string-match "browsed\\.lsp" (buffer-name buffer))
               return (with-current-buffer buffer
                        (prog1 (buffer-substring-no-properties
                                (line-beginning-position) (line-end-position))
                          (kill-buffer)))
               finally return (car browsed-told)))))

(defun browsed-disassembly-of (name)
  (save-current-buffer
    (browsed-go-to name)
    (save-window-excursion
      (slime-sprof-browser-disassemble-function)
      (browsed-answers)
      (with-current-buffer (slime-buffer-name :description)
        (buffer-string)))))

(defun browsed-sources ()
  (let* ((method "(METHOD GARDEN::FILL-PLOT (GARDEN::PLOT))")
         (in-c (plist-get (cl-find :c browsed-functions
                                   :key (lambda (f) (plist-get f :kind)))
                          :name)))
    (cl-loop for (name wanted)
             in `(("GARDEN::PAIRS" "(defun pairs (n)")
                  ("(FLET GARDEN::PAIR :IN GARDEN::PAIRS)" "(defun pairs (n)")
                  (,method "(defmethod fill-plot ((plot plot))")
                  ("(METHOD GARDEN::FILL-PLOT :AROUND (GARDEN::PLOT))"
                   "(defmethod fill-plot :around ((plot plot))")
                  ("(METHOD GARDEN::SEED (T))" "(defmethod seed (plant)")
                  ("(SETF GARDEN::KEPT)" "(defun (setf kept) (value)")
                  (,in-c ,(format "ECL does not know where %s is defined" in-c)))
             do (browsed-wants name wanted (browsed-source-of name)))
    (let ((text (browsed-disassembly-of "GARDEN::PAIRS")))
      (unless (string-match "Name:\\s-+PAIRS" text)
        (browsed-complain "no bytecodes of PAIRS: %s" text)))
    (dolist (name (list method in-c))
      (browsed-wants name (format "ECL cannot disassemble %s" name)
                     (browsed-disassembly-of name)))))

(defun browsed-rows-of (regexp)
  "The rows whose names match REGEXP."
  (cl-remove-if-not (lambda (row) (string-match regexp (cadr row)))
                    (browsed-rows)))

(defun browsed-without-slime ()
  (unless (browsed-rows-of "SWANK")
    (browsed-complain "no row of SLIME's own"))
  (slime-sprof-toggle-swank-exclusion)
  (browsed-answers)
  (browsed-wants "rows of SLIME's own" nil (browsed-rows-of "SWANK\\|swank"))
  (let* ((last (last (browsed-rows) 2))
         (sum (string-to-number (nth 2 (split-string (nth 2 (car last))))))
         (rest (string-to-number (nth 2 (cadr last)))))
    (browsed-wants "the last row" "Elsewhere" (nth 1 (cadr last)))
    (unless (< 99.98 (+ sum rest) 100.02)
      (browsed-complain "the rest of %s is %s" sum rest)))
  (slime-sprof-toggle-swank-exclusion)
  (browsed-answers))

(defun browsed-nothing-recorded ()
  (browsed-report)
  (browsed-wants "an empty list" 1 (length (browsed-shown)))
  (browsed-wants "what is told"
    "mprof: nothing has been recorded; M-x slime-sprof-start begins"
    (car browsed-told))
  (browsed-wants "no row 1" nil (slime-eval '(swank:swank-sprof-expand-node 1)))
  (browsed-wants "no source" "this list is out of date: M-x slime-sprof-report"
                 (cadr (slime-eval '(swank:swank-sprof-source-location 1))))
  (browsed-wants "no code" "this list is out of date: M-x slime-sprof-report"
                 (slime-eval '(swank:swank-sprof-disassemble 1))))

(defun browsed-record (form)
  (slime-sprof-start)
  (slime-eval form)
  (slime-sprof-stop))

(slime-connect "localhost" (with-temp-buffer
                             (insert-file-contents "port")
                             (read (current-buffer))))
(browsed-await "a connection" (and (slime-connected-p) (slime-lisp-modules)))
(browsed-answers)
(slime-eval '(cl:progn (cl:require :mprof-swank) nil))
(browsed-nothing-recorded)
(browsed-record '(garden::work))
(browsed-read-profile)
(browsed-report)
(browsed-numbers-are-those-of-mprof)
(browsed-callers-and-callees)
(browsed-from-a-callee-to-its-row)
(browsed-sources)
(browsed-without-slime)
;; What was recorded before is forgotten.
(browsed-record '(cl:list 1))
(browsed-report)
(browsed-wants "a new recording" nil (browsed-rows-of "GARDEN"))
(princ (format "     %d functions; SLIME %s, ECL %s\n" (length browsed-functions)
               slime-version (slime-lisp-implementation-version)))
;;; slime.el ends here
