#if !__has_include(<curl/curl.h>)
#error "The headers of libcurl are missing. On Debian and Ubuntu, install the package libcurl4-openssl-dev."
#endif
#include <curl/curl.h>

// curl_easy_setopt and curl_easy_getinfo are variadic, and Swift cannot call them. Therefore this header has one
// function for each argument type. They can be removed when Swift supports C functions with variable arguments.
static inline CURLcode ccurl_set_number(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}

// The function that curl calls with bytes of a body or with a header line; curl continues if it accepts all of them.
typedef size_t (*ccurl_receiver)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode ccurl_set_receiver(CURL *handle, CURLoption option, ccurl_receiver value) {
    return curl_easy_setopt(handle, option, value);
}

// Returns the status of the latest response; 0 before the first one.
static inline long ccurl_status(CURL *handle) {
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

// Returns the error in the server's certificate as an OpenSSL number (X509_V_ERR_…); 0 if it has none.
static inline long ccurl_certificate_defect(CURL *handle) {
    long defect = 0;
    curl_easy_getinfo(handle, CURLINFO_SSL_VERIFYRESULT, &defect);
    return defect;
}

// The kinds of authentication are numbers with a cast, which Swift does not import.
static inline CURLcode ccurl_use_bearer(CURL *handle) {
    return curl_easy_setopt(handle, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
}

static inline CURLcode ccurl_use_basic(CURL *handle) {
    return curl_easy_setopt(handle, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
}
