import Glibc

/// The executable that this process runs.
enum RunningProgram {
    /// The path of the executable, for error messages; "PROGRAM" if the system doesn't report it.
    static var path: String {
        guard let path = realpath("/proc/self/exe", nil) else { return "PROGRAM" }
        defer { free(path) }
        return String(cString: path)
    }
}
