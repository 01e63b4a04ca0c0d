;;;; profile.lisp - the numbers of a profile, as objects.
;;;;
;;;; The reducer prints a data file as one s-expression (--format=sexp); here it becomes
;;;; objects.  They are a picture of one moment and do not change.

(in-package "MPROF")

(defparameter *classes* '(:cons :float :structure :other)
  "The type classes, in the order of the reducer's numbers.")

(defun class-index (class)
  "The place of CLASS among *CLASSES*."
  (or (position class *classes*)
      (invalid-argument "~S is not a type class; there are ~{~(~S~)~^, ~}"
                        class *classes*)))

;;; Eight numbers: allocations and bytes for each class.

(defun counts-allocs (counts class)
  "The allocations in COUNTS, of CLASS or for NIL of all."
  (if class
      (nth (* 2 (class-index class)) counts)
      (loop for (allocs nil) on counts by #'cddr sum allocs)))

(defun counts-bytes (counts class)
  "The bytes in COUNTS, of CLASS or for NIL of all."
  (if class
      (nth (1+ (* 2 (class-index class))) counts)
      (loop for (nil bytes) on counts by #'cddr sum bytes)))

;;; Classes

(defclass profile ()
  ((file :initarg :file :reader profile-file
         :documentation "The data file, or NIL when it was the monitor's.")
   (program :initarg :program :reader profile-program
            :documentation "Path of the program that was profiled.")
   (command :initarg :command :reader profile-command
            :documentation "Its command line.")
   (runtime :initarg :runtime :reader profile-runtime
            :documentation "Its Lisp, such as \"ECL 21.2.1\".")
   (state :initarg :state :reader profile-state
          :documentation ":CLOSED; or :OPEN when the program still wrote, or
was killed.")
   (start-time :initarg :start-time :reader profile-start-time
               :documentation "Universal time of the first start.")
   (duration :initarg :duration :reader profile-duration
             :documentation "Seconds profiled, a rational.")
   (allocs :initarg :allocs :reader profile-allocs
           :documentation "Blocks that were allocated.")
   (bytes :initarg :bytes :reader profile-bytes
          :documentation "Their bytes.")
   (objects :initarg :objects :reader profile-objects
            :documentation "Of the blocks, those that are Lisp objects.")
   (object-bytes :initarg :object-bytes :reader profile-object-bytes
                 :documentation "The objects' bytes.")
   (storage :initarg :storage :reader profile-storage
            :documentation "Of the blocks, those that objects own.")
   (storage-bytes :initarg :storage-bytes :reader profile-storage-bytes
                  :documentation "Their bytes.")
   (folded :initarg :folded :reader profile-folded
           :documentation "Allocations of which only the innermost functions are known;
normally 0.")
   (cut :initarg :cut :reader profile-cut
        :documentation "Allocations whose outermost callers are unknown.")
   (unplaced :initarg :unplaced :reader profile-unplaced
             :documentation "Allocations counted without chain or type; normally 0.")
   (sampling :initarg :sampling :reader profile-sampling
             :documentation "NIL; or N, and all numbers are estimated from one byte in
so many: B bytes have a standard error of (sqrt (* N B)).")
   (findings :initarg :findings :initform '() :reader profile-findings
             :documentation "What it shows, as sentences, if they were asked for: strings,
the most important first, as in the summary.")
   (threads :initarg :threads :reader profile-threads
            :documentation "PROFILE-THREADs.")
   (bins :initarg :bins :reader profile-bins
         :documentation "PROFILE-BINs: bytes and objects by type.")
   (functions :initarg :functions :reader profile-functions
              :documentation
              "PROFILE-FUNCTIONs, by decreasing bytes in themselves and what
they call.")
   (chains :initarg :chains :initform '() :reader profile-chains
           :documentation "PROFILE-CHAINs, by decreasing bytes, if they were asked
for."))
  (:documentation "What was recorded up to a moment."))

(defclass profile-thread ()
  ((name :initarg :name :reader thread-name
         :documentation "Its name, a string or NIL.")
   (id :initarg :id :reader thread-id
       :documentation "The number that the kernel gave it.")
   (ended-p :initarg :ended-p :reader thread-ended-p
            :documentation "True when it had ended."))
  (:documentation "A thread that allocated."))

(defclass profile-bin ()
  ((class :initarg :class :reader bin-class
          :documentation "Type class: :CONS, :FLOAT, :STRUCTURE or :OTHER.")
   (type :initarg :type :reader bin-type
         :documentation "The type, a string such as \"double-float\".")
   (name :initarg :name :reader bin-name
         :documentation "The class of a structure or instance, a string or NIL.")
   (objects :initarg :objects :reader bin-objects
            :documentation "Objects of the type.")
   (object-bytes :initarg :object-bytes :reader bin-object-bytes
                 :documentation "Their bytes.")
   (storage :initarg :storage :reader bin-storage
            :documentation "Blocks that such objects own.")
   (storage-bytes :initarg :storage-bytes :reader bin-storage-bytes
                  :documentation "Their bytes."))
  (:documentation "How much was allocated of one type."))

(defclass profile-function ()
  ((name :initarg :name :reader function-name
         :documentation "Its name as Lisp prints it, a string.")
   (kind :initarg :kind :reader function-kind
         :documentation
         ":LISP (compiled), :INTERPRETED, :C, :TOPLEVEL, :UNKNOWN, :FOLDED or
:ENTRY, which counts the arguments for the compiled function of its name.")
   (self :initarg :self :reader function-self)
   (total :initarg :total :reader function-total)
   (cycle :initarg :cycle :reader function-cycle
          :documentation
          "The number of the cycle of functions that call each other, or NIL.")
   (callers :initform '() :accessor %function-callers
            :reader function-callers
            :documentation "PROFILE-ARCs to it, by decreasing bytes.")
   (callees :initform '() :accessor %function-callees
            :reader function-callees
            :documentation "PROFILE-ARCs from it, by decreasing bytes."))
  (:documentation "A function that allocated, or called one that did."))

(defclass profile-arc ()
  ((caller :initarg :caller :reader arc-caller
           :documentation "The PROFILE-FUNCTION that called.")
   (callee :initarg :callee :reader arc-callee
           :documentation "The PROFILE-FUNCTION that was called.")
   (counts :initarg :counts :reader arc-counts))
  (:documentation
   "What was allocated in calls of one function by another, and below."))

(defclass profile-chain ()
  ((bytes :initarg :bytes :reader chain-bytes
          :documentation "Bytes that were allocated by it.")
   (allocs :initarg :allocs :reader chain-allocs
           :documentation "Blocks that these are in.")
   (functions :initarg :functions :reader chain-functions
              :documentation "Names of functions, strings: the first allocated, and
was called by the second."))
  (:documentation "What was allocated by one chain of callers."))

;;; Counts

(defun function-self-allocs (function &optional class)
  "Return the number of blocks that FUNCTION, a PROFILE-FUNCTION, allocated itself.
CLASS is a type class, :CONS, :FLOAT, :STRUCTURE or :OTHER, or NIL for all."
  (counts-allocs (function-self function) class))

(defun function-self-bytes (function &optional class)
  "Bytes that FUNCTION allocated itself; CLASS as in FUNCTION-SELF-ALLOCS."
  (counts-bytes (function-self function) class))

(defun function-total-allocs (function &optional class)
  "Blocks allocated by FUNCTION or on its behalf, each counted once also when
it recurses; CLASS as in FUNCTION-SELF-ALLOCS."
  (counts-allocs (function-total function) class))

(defun function-total-bytes (function &optional class)
  "Bytes allocated by FUNCTION or on its behalf, each counted once also when
it recurses; CLASS as in FUNCTION-SELF-ALLOCS."
  (counts-bytes (function-total function) class))

(defun arc-allocs (arc &optional class)
  "Blocks allocated in ARC's calls; CLASS as in FUNCTION-SELF-ALLOCS."
  (counts-allocs (arc-counts arc) class))

(defun arc-bytes (arc &optional class)
  "Bytes allocated in ARC's calls; CLASS as in FUNCTION-SELF-ALLOCS."
  (counts-bytes (arc-counts arc) class))

;;; Printing

(defmethod print-object ((profile profile) stream)
  (print-unreadable-object (profile stream :type t)
    (format stream "~D bytes in ~D allocations, ~D functions"
            (profile-bytes profile) (profile-allocs profile)
            (length (profile-functions profile)))))

(defmethod print-object ((thread profile-thread) stream)
  (print-unreadable-object (thread stream :type t)
    (format stream "~@[~A ~]~D~:[~; ended~]" (thread-name thread)
            (thread-id thread) (thread-ended-p thread))))

(defmethod print-object ((bin profile-bin) stream)
  (print-unreadable-object (bin stream :type t)
    (format stream "~A~@[ ~A~] ~D objects, ~D bytes" (bin-type bin)
            (bin-name bin) (bin-objects bin)
            (+ (bin-object-bytes bin) (bin-storage-bytes bin)))))

(defmethod print-object ((function profile-function) stream)
  (print-unreadable-object (function stream :type t)
    (format stream "~A self ~D total ~D bytes" (function-name function)
            (function-self-bytes function) (function-total-bytes function))))

(defmethod print-object ((arc profile-arc) stream)
  (print-unreadable-object (arc stream :type t)
    (format stream "~A > ~A ~D bytes" (function-name (arc-caller arc))
            (function-name (arc-callee arc)) (arc-bytes arc))))

(defun system-function-p (name)
  "Return true if NAME names a function of Lisp itself, or an anonymous function."
  (flet ((starts (text)
           (let ((end (mismatch text name)))
             (or (null end) (= end (length text))))))
    (and (not (search "::" name))
         (some #'starts '("CL:" "CLOS:" "SI:" "EXT:" "MP:" "GRAY:" "(LAMBDA "
                          "(METHOD CL:" "(METHOD CLOS:" "(SETF CL:")))))

(defun innermost-functions (chain)
  "Return the names of five functions of CHAIN, and whether there are more.  The first
is the innermost one; the program's own functions come before those of Lisp itself."
  (let* ((names (chain-functions chain))
         (own (remove-if #'system-function-p (rest names)))
         (shown (if names (cons (first names) (or own (rest names))) '())))
    (values (subseq shown 0 (min 5 (length shown)))
            (< (min 5 (length shown)) (length names)))))

(defmethod print-object ((chain profile-chain) stream)
  (print-unreadable-object (chain stream :type t)
    (multiple-value-bind (names more-p) (innermost-functions chain)
      (format stream "~:D byte~:P in ~:D allocation~:P~@[: ~{~A~^ < ~}~]~
                      ~:[~; < ...~]"
              (chain-bytes chain) (chain-allocs chain) names more-p))))

;;; From the reducer's s-expression

(defconstant +unix-epoch+ 2208988800
  "1970-01-01 00:00 UTC as universal time.")

(defun read-sexp (text)
  "The one expression in TEXT, read as data."
  (with-standard-io-syntax
    (let ((*read-eval* nil)
          (*package* (find-package "MPROF")))
      (handler-case (read-from-string text)
        (error (condition)
          (error 'report-error
                 :message (format nil "the reducer's output cannot be read: ~A"
                                  condition)))))))

(defun make-functions (forms)
  "A hash table from ids to PROFILE-FUNCTIONs."
  (let ((table (make-hash-table :size (1+ (length forms)))))
    (dolist (form forms table)
      (destructuring-bind (&key id name kind self total cycle
                           &allow-other-keys)
          form
        (setf (gethash id table)
              (make-instance 'profile-function
                             :name name :kind kind :self self :total total
                             :cycle cycle))))))

(defun link-arcs (forms functions)
  "Make the arcs of FORMS and enter them at both ends."
  (let ((arcs (loop for (caller callee . counts) in forms
                    collect (make-instance 'profile-arc
                                           :caller (gethash caller functions)
                                           :callee (gethash callee functions)
                                           :counts counts))))
    ;; Smallest first: each push then leaves the lists by decreasing bytes.
    (dolist (arc (sort arcs #'< :key #'arc-bytes))
      (push arc (%function-callers (arc-callee arc)))
      (push arc (%function-callees (arc-caller arc))))))

(defun make-bin (form)
  "The PROFILE-BIN for FORM."
  (destructuring-bind (&key class type name objects object-bytes storage
                         storage-bytes &allow-other-keys)
      form
    (make-instance 'profile-bin
                   :class class :type type :name name
                   :objects objects :object-bytes object-bytes
                   :storage storage :storage-bytes storage-bytes)))

(defun make-thread (form)
  "The PROFILE-THREAD for FORM."
  (destructuring-bind (name id &key ended &allow-other-keys) form
    (make-instance 'profile-thread :name name :id id :ended-p ended)))

(defun make-profile (form file)
  "The PROFILE for FORM, what the reducer printed of the data file FILE."
  (unless (and (consp form) (eql 1 (getf form :mprof)))
    (error 'report-error
           :message "the reducer's output is of another version"))
  (destructuring-bind (&key start-time duration threads bins functions arcs
                       &allow-other-keys)
      form
    (let ((table (make-functions functions)))
      (link-arcs arcs table)
      (apply #'make-instance 'profile
             :file file
             :start-time (+ +unix-epoch+ (floor start-time 1000000000))
             :duration (/ duration 1000000000)
             :threads (mapcar #'make-thread threads)
             :bins (mapcar #'make-bin bins)
             :functions (sort (loop for function being the hash-values of table
                                    collect function)
                              #'> :key #'function-total-bytes)
             (loop for key in '(:program :command :runtime :state :allocs
                                :bytes :objects :object-bytes :storage
                                :storage-bytes :folded :cut :unplaced
                                :sampling)
                   collect key
                   collect (getf form key))))))

(defun current-profile (&key all-frames chains findings)
  "What has been recorded so far, a PROFILE.  Recording may be running, and
goes on.  ALL-FRAMES as in REPORT, CHAINS and FINDINGS as in LOAD-PROFILE.  Signals a
NOTHING-RECORDED-ERROR before the first START."
  (load-profile nil :all-frames all-frames :chains chains :findings findings))

(defun load-profile (&optional file &key all-frames chains findings)
  "The PROFILE in the data file FILE, a string or pathname; without FILE, or
for NIL, what has been recorded so far.  The program that writes to FILE may be
running, or may have been killed.  ALL-FRAMES as in REPORT.  With CHAINS it has the
PROFILE-CHAINS, all of them for T, or so many as the number says.  With FINDINGS it has
the PROFILE-FINDINGS."
  (unless (typep chains '(or boolean (integer 1 4294967295)))
    (invalid-argument "~S is no number of chains" chains))
  (flet ((from-file (name)
           (let ((profile (profile-from-file name file all-frames chains)))
             (when findings
               (setf (slot-value profile 'findings) (read-findings name all-frames)))
             profile)))
    (if file
        (from-file (file-string file))
        (call-with-current-data #'from-file))))

(defun profile-from-file (name file all-frames chains &optional options)
  "The PROFILE in the data file NAME, which the caller knows as FILE; OPTIONS for the
mprof command."
  (let* ((options (append options (and all-frames '("--all-frames"))))
         (form (read-sexp (%report `("--format=sexp" ,@options ,name))))
         (profile (make-profile form file)))
    (when (and chains (member :lisp (getf form :heaps)))
      (setf (slot-value profile 'chains)
            (read-chains name chains options)))
    profile))

(defun read-findings (file all-frames)
  "Return the sentences about the Lisp heap in the data file FILE, strings.  ALL-FRAMES as
in REPORT."
  (getf (read-sexp (%report `("summary" "--format=sexp" "--heap=lisp"
                                        ,@(and all-frames '("--all-frames"))
                                        ,file)))
        :lisp))

(defun read-chains (file most options)
  "The PROFILE-CHAINs of the Lisp heap in the data file FILE, MOST of them."
  (loop for (bytes allocs . frames)
          in (read-sexp (%report `("export" "--format=sexp" "--heap=lisp"
                                            "--inlines=no" ,@options
                                            ,@(and (integerp most)
                                                   (list (format nil "--limit-rows=~D"
                                                                 most)))
                                            ,file)))
        collect (make-instance 'profile-chain
                               :bytes bytes :allocs allocs
                               :functions (mapcar #'first frames))))

(defun find-function (name &optional (profile (current-profile)))
  "The PROFILE-FUNCTION of PROFILE whose name is NAME, or NIL.

NAME is a string, the name as the tables print it, or an object that prints so:
a symbol or a list such as (SETF FOO).  A string without a package finds a
function of any package when no name equals it, the largest first."
  (unless (typep profile 'profile)
    (invalid-argument "~S is not a profile" profile))
  (let ((text (if (stringp name)
                  name
                  (with-standard-printing () (printed-name name))))
        (functions (profile-functions profile)))
    (or (find text functions :key #'function-name :test #'string=)
        (and (stringp name)
             (find-if (lambda (function)
                        (let* ((full (function-name function))
                               (colon (position #\: full :from-end t)))
                          (and colon (string= name full :start2 (1+ colon)))))
                      functions)))))

(defun printed-name (name)
  "Return NAME, a symbol or a list, like the monitor writes it.  Symbols have the short
names of their packages, except symbols of CL-USER and the operators of lists."
  (flet ((bare (symbol)
           (let ((*package* (or (symbol-package symbol) *package*))
                 (*print-pretty* nil)
                 (*print-gensym* nil))
             (prin1-to-string symbol))))
    (cond ((member name '(nil t)) (symbol-name name))
          ((symbolp name)
           (concatenate 'string (package-prefix name) (bare name)))
          ((atom name) (prin1-to-string name))
          (t
           (format nil "(~A~{ ~A~})"
                   (if (and (symbolp (first name))
                            (eq (symbol-package (first name))
                                (find-package "COMMON-LISP")))
                       (bare (first name))
                       (printed-name (first name)))
                   (mapcar #'printed-name (rest name)))))))

(defun package-prefix (symbol)
  "Return the prefix of SYMBOL's name, colons included."
  (let* ((package (symbol-package symbol))
         (name (and package (package-name package))))
    (cond ((null package) "#:")
          ((string= name "KEYWORD") "")
          ((string= name "COMMON-LISP") "CL:")
          ((string= name "COMMON-LISP-USER") "")
          (t
           (format nil "~A~:[::~;:~]" (if (string= name "SYSTEM") "SI" name)
                   (eq (nth-value 1 (find-symbol (symbol-name symbol) package))
                       :external))))))

(document-readers 'profile 'profile-thread 'profile-bin 'profile-function
                  'profile-arc 'profile-chain)
