;;;; library.lsp - a real program to profile: text and regular expressions.
;;;;
;;;; Usage: ecl --mprof library.lsp cl-ppcre.fas [rounds]
;;;;
;;;; Loads Edi Weitz's CL-PPCRE, compiled by this ECL (compile-library.lsp), and
;;;; lets it read the log of a web server, which is the same on every run.  All but
;;;; BYTES-BY-PAGE give it the regular expression anew for each line: the tables
;;;; show what that costs.

(defpackage :library-demo
  (:use :cl))
(in-package :library-demo)

(destructuring-bind (&optional fas (rounds "5") &rest ignored)
    (rest ext:*unprocessed-ecl-command-args*)
  (declare (ignore ignored))
  (unless (and fas (probe-file fas))
    (error "usage: ecl --mprof library.lsp cl-ppcre.fas [rounds]"))
  (defparameter *rounds* (parse-integer rounds))
  (let ((*load-verbose* nil))
    (load fas)))

(defparameter *pages*
  #("/" "/index.html" "/manual/ch2.html?page=12" "/search?q=cons+box%20cdr"))
(defparameter *agents*
  #("Mozilla/5.0 (X11; Linux x86_64)" "curl/7.88.1" "Lynx/2.9"))

(defun log-line (i)
  "Line I of the log."
  (format nil "10.0.~d.~d - - [~2,'0d/Oct/1988:13:~2,'0d:36 +0200] ~
               \"~a ~a HTTP/1.1\" ~d ~d \"~a\""
          (mod (* 7 i) 256) (mod (* 13 i) 256) (1+ (mod i 31)) (mod i 60)
          (if (zerop (mod i 5)) "POST" "GET")
          (aref *pages* (mod (floor i 3) (length *pages*)))
          (if (zerop (mod i 11)) 404 200)
          (mod (* 7919 i) 65536)
          (aref *agents* (mod i (length *agents*)))))

(defparameter *line*
  (concatenate 'string
               "^(\\d{1,3}(?:\\.\\d{1,3}){3}) \\S+ \\S+ \\[([^\\]]+)\\] "
               "\"(GET|POST) (\\S+) HTTP/[\\d.]+\" (\\d{3}) (\\d+) \"([^\"]*)\"$")
  "What a line is like; its registers are address, time, method, page, status,
bytes and user agent.")

(defun bytes-by-page (lines)
  "How many bytes were sent for each page."
  (let ((table (make-hash-table :test 'equal))
        (scanner (cl-ppcre:create-scanner *line*)))
    (dolist (line lines table)
      (cl-ppcre:register-groups-bind (nil nil nil page nil (#'parse-integer bytes))
          (scanner line)
        (incf (gethash page table 0) bytes)))))

(defun query-words (lines)
  "The words that were searched for, sorted."
  (let ((words '()))
    (dolist (line lines (sort words #'string<))
      (cl-ppcre:do-register-groups (query) ("\\?q=([^ ]*)" line)
        (dolist (word (cl-ppcre:split "\\+|%20" query))
          (pushnew word words :test #'string=))))))

(defun hide-addresses (lines)
  "The lines with the last two numbers of each address replaced."
  (mapcar (lambda (line)
            (cl-ppcre:regex-replace "^(\\d+\\.\\d+)\\.\\d+\\.\\d+" line
                                    "\\1.x.x"))
          lines))

(defun shout-agents (lines)
  "The letters of all user agents, in capitals."
  (mapcar (lambda (line)
            (cl-ppcre:regex-replace-all "(?i)[a-z]+(?=/[\\d.]+)" line
                                        #'string-upcase :simple-calls t))
          lines))

(defun numbers (lines)
  "How many numbers the lines hold."
  (reduce #'+ lines
          :key (lambda (line)
                 (length (cl-ppcre:all-matches-as-strings "\\b\\d+\\b" line)))))

(defun nested (depth)
  "Parse and compile a regular expression of that depth."
  (let ((regex "a"))
    (dotimes (i depth)
      (setf regex (format nil "(?:~a|[b-y]{1,~d}z)+" regex (1+ i))))
    (length (cl-ppcre:scan-to-strings regex "aaabbzcddz"))))

(defun main (rounds)
  "Read the log ROUNDS times and print what was found."
  (let ((lines (loop for i below 600 collect (log-line i)))
        pages words hidden agents count length)
    (loop repeat rounds
          do (setf pages (bytes-by-page lines)
                   words (query-words lines)
                   hidden (hide-addresses lines)
                   agents (shout-agents lines)
                   count (numbers lines)
                   length (nested 3)))
    (loop for page across *pages*
          do (format t "~a: ~d bytes~%" page (gethash page pages)))
    (format t "words: ~{~a~^, ~}~%~a~%~a~%~d numbers; a match of ~d~%"
            words (first hidden) (first agents) count length)))

(main *rounds*)
