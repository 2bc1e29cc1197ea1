// Treats any bytes as advertising data: decoding must not trap, and its results must decode equal after encoding.
import BeaconScanning
import IndoorVocabulary

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzAdvertisement(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard case .beacon(let frame)? = try? BeaconFrame.decode(bytes.span) else { return 0 }
    guard let data = try? frame.advertisingData(), case .beacon(frame)? = try? BeaconFrame.decode(data.span) else {
        fatalError("\(frame) does not decode to itself")
    }
    return 0
}
