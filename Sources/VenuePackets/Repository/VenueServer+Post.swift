extension VenueServer {
    /// Brings a document to the server's address, and returns when the server has confirmed it by a status from 200 to 299.
    ///
    /// - Parameters:
    ///   - type: the document's media type.
    ///   - headers: more lines of the request's head.
    package func post(_ bytes: [UInt8], type: String, headers: [String] = []) async throws(VenueRepositoryError) {
        var request = TransferRequest(url: url)
        request.post = TransferRequest.Post(bytes: bytes, headers: ["Content-Type: \(type)"] + headers)
        let head: TransferHead
        do throws(TransferFailure) {
            head = try await CurlTransport(server: self).fetch(request) { _, _ in false }
        } catch { throw VenueRepositoryError(error, url: url) }
        guard (200...299).contains(head.status) else { throw .status(head.status, of: self, url: url) }
    }
}
