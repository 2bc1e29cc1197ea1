import Glibc

/// The program that this process runs.
enum RunningProgram {
    /// Its path, to be named in advice; "PROGRAM" if the system does not tell.
    static var path: String {
        guard let path = realpath("/proc/self/exe", nil) else { return "PROGRAM" }
        defer { free(path) }
        return String(cString: path)
    }
}
