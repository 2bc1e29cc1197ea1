import CCurl
import IndoorVocabulary

/// URLs (RFC 3986), as libcurl parses them.
enum WebAddress {
    /// Returns the reason why a URL cannot be a server's folder; nil if it can.
    static func problem(of url: String) -> String? {
        let wanted = "give one such as https://venues.example.org/museum"
        guard let handle = curl_url() else { return "out of memory" }
        defer { curl_url_cleanup(handle) }
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }), curl_url_set(handle, CURLUPART_URL, url, 0) == CURLUE_OK
        else { return "\(quoted(url)) is not valid; \(wanted)" }
        guard let scheme = part(CURLUPART_SCHEME, of: handle), ["http", "https"].contains(scheme) else {
            return "\(quoted(url)) is not an http or https address; \(wanted)"
        }
        if part(CURLUPART_USER, of: handle) != nil || part(CURLUPART_PASSWORD, of: handle) != nil {
            return "the server's address contains a user; give user and password separately, where they stay secret"
        }
        if part(CURLUPART_QUERY, of: handle) != nil || part(CURLUPART_FRAGMENT, of: handle) != nil || url.contains("?")
            || url.contains("#")
        {
            return "the server's address has a query or fragment; \(wanted)"
        }
        return nil
    }

    /// Returns the URL for a message, unless it may contain a password.
    private static func quoted(_ url: String) -> String {
        let isPlain = url.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } && !url.contains { "@?#".contains($0) }
        return isPlain ? "the server's address '\(url.prefix(200))'" : "the server's address"
    }

    /// Returns whether the host is this machine's loopback, which a proxy cannot reach.
    static func isLoopback(_ url: String) -> Bool {
        guard let handle = curl_url() else { return false }
        defer { curl_url_cleanup(handle) }
        guard curl_url_set(handle, CURLUPART_URL, url, 0) == CURLUE_OK, let host = part(CURLUPART_HOST, of: handle)
        else { return false }
        return LoopbackHost.contains(host)
    }

    /// Returns a path component with percent encoding.
    static func escaped(_ text: String) -> String {
        guard let escaped = curl_easy_escape(nil, text, 0) else { return text }
        defer { curl_free(escaped) }
        return String(cString: escaped)
    }

    private static func part(_ part: CURLUPart, of handle: OpaquePointer) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, 0) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
