import FoundationEssentials
import Glibc

extension Error {
    /// The system's words where Foundation wraps an error of the system, such as "No such file or directory".
    ///
    /// What Foundation itself prints of such an error is its domain, its code and a dictionary, which help nobody.
    package var systemReason: String {
        if let error = self as? POSIXError { return String(cString: strerror(error.code.rawValue)) }
        return (self as? CocoaError)?.underlying?.systemReason ?? "\(self)"
    }
}
